// With this module loaded, Node runs the packages of this repository from their sources: `node --import ./scripts/source.mjs FILE`. A fresh checkout has no `dist`, in which
// the shells of isolates are text; here each is bundled when it is imported.
import { registerHooks } from "node:module";
import { fileURLToPath } from "node:url";
import { buildSync } from "esbuild";

const own = /^(?:@keyhole\/|keyhole(?:\/|$))/;
const shell = /\?keyhole-(iife|esm)$/;

registerHooks({
  resolve(specifier, context, nextResolve) {
    const [, path, kind] = /^keyhole:(\.[^?]*)\?(iife|esm)$/.exec(specifier) ?? [];
    if (path !== undefined)
      return { url: `${new URL(path, context.parentURL).href}?keyhole-${kind}`, format: "module", shortCircuit: true };
    if (!own.test(specifier)) return nextResolve(specifier, context);
    return nextResolve(specifier, { ...context, conditions: [...context.conditions, "keyhole-source"] });
  },
  load(url, context, nextLoad) {
    const [query, kind] = shell.exec(url) ?? [];
    if (query === undefined) return nextLoad(url, context);
    const { outputFiles } = buildSync({
      entryPoints: [fileURLToPath(url.slice(0, -query.length))],
      bundle: true,
      write: false,
      format: kind === "iife" ? "iife" : "esm",
      platform: "neutral",
      target: "es2024",
      conditions: ["keyhole-source", "module", "import"],
      mainFields: ["module", "main"],
      external: ["cloudflare:*", "./tool.js"],
      tsconfigRaw: "{}",
    });
    return { format: "module", source: `export default ${JSON.stringify(outputFiles[0]?.text)};`, shortCircuit: true };
  },
});
