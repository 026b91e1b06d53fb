/** `@keyhole/worker-host/csp`: the Content-Security-Policy of a page whose kernel isolates its tools. Runs anywhere: a server and a build write headers with it. */
import { knownOptions } from "@keyhole/kernel/foreign";
import { sha256Hash } from "@keyhole/kernel/sha256";
import frameScript from "keyhole:./frame.ts?iife";

/** Allows the script of an isolate's frame by its content, for hosts that cannot make a nonce for each answer: `'sha256-…'`. */
export const frameScriptSource: string = `'sha256-${base64Of(sha256Hash.bytes(new TextEncoder().encode(frameScript)))}'`;

/**
 * The sources that isolates need in a page's policy, by directive. Without them the kernel refuses
 * to start an isolate and names the missing one.
 *
 * `script-src`: the frame's script; the worker and the tool's module are blobs; tools may bring WebAssembly. `worker-src`: the same worker.
 */
export const isolateSources: Readonly<Record<"script-src" | "worker-src", readonly string[]>> = {
  "script-src": [frameScriptSource, "blob:", "'wasm-unsafe-eval'"],
  "worker-src": ["blob:"],
};

export interface PagePolicyOptions {
  /** Origins that the page and its kernel may ask, besides their own: `https://api.example.com`. Default: none. */
  readonly connect?: readonly string[];
  /**
   * Asks for Trusted Types, and allows the policies of these names besides `keyhole`, by which isolates make their frames and workers. The page's own `new Worker(url)` then
   * needs a policy, too. Default: not asked for.
   */
  readonly trustedTypes?: readonly string[];
}

/**
 * A strict policy for a page whose scripts and styles are files of its own origin, as the text of the header. Send it with the page and with the kernel's worker script.
 *
 * @example
 * response.setHeader("content-security-policy", pagePolicy({ connect: ["https://api.example.com"] }));
 */
export function pagePolicy(options: PagePolicyOptions = {}): string {
  const { connect = [], trustedTypes } = knownOptions(options, { connect: true, trustedTypes: true }, "pagePolicy");
  return [
    "default-src 'none'",
    `script-src 'self' ${isolateSources["script-src"].join(" ")}`,
    `worker-src 'self' ${isolateSources["worker-src"].join(" ")}`,
    ["connect-src 'self'", ...connect].join(" "),
    "style-src 'self'",
    "img-src 'self' data:",
    // Text, and not a request, makes a frame of ours. With this it cannot navigate itself away.
    "frame-src 'none'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    ...(trustedTypes === undefined
      ? []
      : ["require-trusted-types-for 'script'", ["trusted-types keyhole", ...trustedTypes].join(" ")]),
  ].join("; ");
}

function base64Of(digest: string): string {
  const pairs = digest.slice(digest.indexOf(":") + 1).match(/../g) ?? [];
  return btoa(String.fromCharCode(...pairs.map((pair) => Number.parseInt(pair, 16))));
}
