import { createHash } from "node:crypto";
import type { Plugin } from "vite";

/** The one script that the page puts into frames, as `@keyhole/worker-host` imports it. */
const frameScript = /\/browser\/frame\.ts\?keyhole-iife$/;

/**
 * Writes the policy into the built page. An isolate's frame inherits it: its script is allowed by its digest, its worker and the tool's
 * module are blobs, and `wasm-unsafe-eval` lets a tool bring WebAssembly. The page's own scripts and styles are files. Connections are open,
 * because a person can enter the address of any edge; a tool's are closed by the frame's own policy. A picture that a tool answers is a blob.
 */
export function contentSecurityPolicy(): Plugin {
  let digest: string | undefined;
  return {
    name: "playground:content-security-policy",
    apply: "build",
    moduleParsed({ id, code }) {
      digest = frameDigest(id, code) ?? digest;
    },
    transformIndexHtml: {
      order: "post",
      handler(_, { path }) {
        if (path !== "/index.html") return []; // The page of one file has a policy of its own.
        if (digest === undefined)
          throw new Error(
            "The script of the isolates' frame was not found, so that the page's policy cannot allow it.",
          );
        return [
          {
            tag: "meta",
            attrs: { "http-equiv": "Content-Security-Policy", content: policyOf(digest) },
            injectTo: "head-prepend",
          },
        ];
      },
    },
  };
}

function policyOf(digest: string): string {
  return [
    "default-src 'none'",
    `script-src 'self' 'sha256-${digest}' blob: 'wasm-unsafe-eval'`,
    "worker-src 'self' blob:",
    "connect-src 'self' http: https:",
    "style-src 'self'",
    "img-src 'self' blob:",
    "frame-src 'none'",
    "base-uri 'none'",
    "form-action 'none'",
  ].join("; ");
}

/** Of the module that holds the frames' script, in base64; `undefined` for any other module. */
export function frameDigest(id: string, code: string | null): string | undefined {
  if (!frameScript.test(id) || code === null) return undefined;
  return createHash("sha256").update(exportedText(code)).digest("base64");
}

/** The plugin that made the module wrote `export default "…"`. */
function exportedText(code: string): string {
  const literal = /^export default ("[\s\S]*");?\s*$/.exec(code)?.[1];
  if (literal === undefined) throw new Error("The script of the isolates' frame is not a module with one string.");
  return JSON.parse(literal) as string;
}
