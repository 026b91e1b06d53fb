import { createHash } from "node:crypto";
import type { Plugin, Rolldown } from "vite";

/**
 * Makes one file of a page: script and style inside, allowed by their digests, and nothing else allowed at all. Such a page works from a disk, and cannot
 * send what is put into it anywhere.
 *
 * @param environment the environment whose pages it makes
 */
export function oneFile(environment: string): Plugin {
  return {
    name: "playground:one-file",
    apply: "build",
    enforce: "post",
    applyToEnvironment: ({ name }) => name === environment,
    generateBundle(_, bundle) {
      const outputs = Object.values(bundle);
      const page = outputs.find((each): each is Rolldown.OutputAsset => each.fileName.endsWith(".html"));
      if (page === undefined) throw new Error("There is no page to make one file of.");
      const script = outputs.flatMap((each) => (each.type === "chunk" ? [each.code] : [])).join("\n");
      const style = outputs
        .flatMap((each) => (each.type === "asset" && each.fileName.endsWith(".css") ? [String(each.source)] : []))
        .join("\n");
      for (const each of outputs) if (each !== page) delete bundle[each.fileName];
      page.source = inlined(String(page.source), script.trim(), style.trim());
    },
  };
}

function inlined(html: string, script: string, style: string): string {
  return withContent(html, { script, style }, (digests) => [
    "default-src 'none'",
    `script-src '${digests.script}'`,
    `style-src '${digests.style}'`,
    "base-uri 'none'",
    "form-action 'none'",
  ]);
}

interface Content {
  readonly script: string;
  readonly style: string;
}

/**
 * The page with its script and style inside, and nothing that it would load.
 *
 * @param policyOf the directives of its policy, by the digests of both as the page has them
 */
export function withContent(
  html: string,
  { script, style }: Content,
  policyOf: (digests: Content) => readonly string[],
): string {
  // The parser of HTML ends a script at these letters wherever they stand; in a string of JavaScript the backslash changes nothing.
  const code = script.replaceAll(/<\/(script)/gi, "<\\/$1").replaceAll("<!--", "<\\!--");
  const policy = policyOf({ script: digestOf(code), style: digestOf(style) }).join("; ");
  return html
    .replace(/<script type="module"[^>]*><\/script>\s*/, "")
    .replaceAll(/<link rel="(?:stylesheet|modulepreload)"[^>]*>\s*/g, "")
    .replace("<head>", () => `<head>\n    <meta http-equiv="Content-Security-Policy" content="${policy}" />`)
    .replace("</head>", () => `<style>${style}</style>\n  </head>`)
    .replace("</body>", () => `<script type="module">${code}</script>\n  </body>`);
}

function digestOf(text: string): string {
  return `sha256-${createHash("sha256").update(text).digest("base64")}`;
}
