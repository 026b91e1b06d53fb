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
  // The parser of HTML ends a script at these letters wherever they stand; in a string of JavaScript the backslash changes nothing.
  const code = script.replaceAll(/<\/(script)/gi, "<\\/$1").replaceAll("<!--", "<\\!--");
  const policy = [
    "default-src 'none'",
    `script-src '${digestOf(code)}'`,
    `style-src '${digestOf(style)}'`,
    "base-uri 'none'",
    "form-action 'none'",
  ].join("; ");
  return html
    .replace(/<script type="module"[^>]*><\/script>\s*/, "")
    .replace(/<link rel="stylesheet"[^>]*>\s*/, "")
    .replace("<head>", () => `<head>\n    <meta http-equiv="Content-Security-Policy" content="${policy}" />`)
    .replace("</head>", () => `<style>${style}</style>\n  </head>`)
    .replace("</body>", () => `<script type="module">${code}</script>\n  </body>`);
}

function digestOf(text: string): string {
  return `sha256-${createHash("sha256").update(text).digest("base64")}`;
}
