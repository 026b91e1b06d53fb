// With this module loaded, Node runs the packages of this repository from their sources: `node --import ./scripts/source.mjs FILE`. A fresh checkout has no `dist`, in which
// the shells of isolates are text; here each is bundled when it is imported, and kept until one of its sources changes.
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from "node:fs";
import { createRequire, enableCompileCache, registerHooks } from "node:module";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";

const own = /^(?:@keyhole\/|keyhole(?:\/|$))/;
const shell = /\?keyhole-(iife|esm)$/;

const root = fileURLToPath(new URL("..", import.meta.url));
const keptFolder = join(root, "node_modules/.cache/shells");
const require = createRequire(import.meta.url);

// For each process, also one that is started with an environment of its own: half of a start is to strip types and to compile.
enableCompileCache(join(root, "node_modules/.cache/compile"));

/** @param {string} path below the root @returns {string} another one after each change of the file */
function stateOf(path) {
  const { mtimeMs, size } = statSync(join(root, path));
  return `${mtimeMs} ${size}`;
}

/** @param {string} path @returns {string | undefined} the text of a bundle that is made of files as they are now */
function keptText(path) {
  try {
    /** @type {{ text: string, states: Record<string, string> }} */
    const { text, states } = JSON.parse(readFileSync(path, "utf8"));
    return Object.entries(states).every(([input, state]) => stateOf(input) === state) ? text : undefined;
  } catch {
    return undefined; // Nothing is kept, or one of the files is gone.
  }
}

/** @param {string} file @param {string | undefined} kind */
function bundle(file, kind) {
  // To load esbuild and to start its program costs a command more than all else.
  /** @type {typeof import("esbuild")} */
  const { buildSync } = require("esbuild");
  const { outputFiles, metafile } = buildSync({
    absWorkingDir: root,
    entryPoints: [file],
    bundle: true,
    write: false,
    metafile: true,
    format: kind === "iife" ? "iife" : "esm",
    platform: "neutral",
    target: "es2024",
    conditions: ["keyhole-source", "module", "import"],
    mainFields: ["module", "main"],
    external: ["cloudflare:*", "./tool.js"],
    tsconfigRaw: "{}",
  });
  const sources = Object.keys(metafile.inputs);
  const packages = sources.map((source) => /^packages\/[^/]+\//.exec(source)?.[0] ?? "");
  const inputs = new Set([...sources, ...packages.map((folder) => `${folder}package.json`)]);
  inputs.add(relative(root, fileURLToPath(import.meta.url))).add("node_modules/esbuild/package.json");
  return { text: outputFiles[0]?.text ?? "", inputs };
}

/** @param {string} file @param {string | undefined} kind @returns {string} */
function shellText(file, kind) {
  const name = createHash("sha256").update(`${kind} ${file}`).digest("hex");
  const path = join(keptFolder, `${name}.json`);
  const found = keptText(path);
  if (found !== undefined) return found;
  const { text, inputs } = bundle(file, kind);
  const states = Object.fromEntries([...inputs].map((input) => [input, stateOf(input)]));
  try {
    mkdirSync(keptFolder, { recursive: true });
    // Two processes can write it at once; a third one reads it whole.
    const own = `${path}.${process.pid}`;
    writeFileSync(own, JSON.stringify({ text, states }));
    renameSync(own, path);
  } catch {
    // Another user owns the folder: the next process bundles it again.
  }
  return text;
}

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
    const text = shellText(fileURLToPath(url.slice(0, -query.length)), kind);
    return { format: "module", source: `export default ${JSON.stringify(text)};`, shortCircuit: true };
  },
});
