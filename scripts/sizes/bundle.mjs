import { gzipSync } from "node:zlib";
import { build as esbuild, transform } from "esbuild";
import { build } from "vite";
import { keyhole } from "../keyhole-plugin.mjs";
import { root } from "../project.mjs";

/**
 * What is loaded at first, without what is imported when it is used.
 *
 * @typedef {{ code: string, modules: ReadonlyMap<string, string> }} Bundle `modules`: the code of each, before it is minified
 */

const conditions = ["keyhole-source", "module", "browser", "production"];

/** Vite puts it into documents that import later, and not into workers. */
const preloadHelper = "\0vite/preload-helper.js";

/**
 * By Vite, so by Rolldown, with its own minifier.
 *
 * @param {string} source
 * @param {boolean} [isDocument] whether a document loads it, and not a worker
 * @returns {Promise<Bundle>}
 */
export async function viteBundle(source, isDocument = false) {
  const entry = "virtual:entry";
  const output = await build({
    root,
    configFile: false,
    logLevel: "silent",
    resolve: { conditions },
    plugins: [
      keyhole(),
      {
        name: "entry",
        resolveId: (id) => (id === entry ? `\0${entry}` : undefined),
        load: (id) => (id === `\0${entry}` ? source : undefined),
      },
      {
        name: "no-preload",
        load: (id) =>
          id === preloadHelper && !isDocument ? "export const __vitePreload = (load) => load();" : undefined,
      },
    ],
    build: {
      write: false,
      target: "es2024",
      minify: "oxc",
      modulePreload: false,
      rolldownOptions: { input: entry, preserveEntrySignatures: "strict" },
    },
  });
  const parts = [output].flat().flatMap((each) => ("output" in each ? each.output : []));
  const chunks = new Map(parts.flatMap((part) => (part.type === "chunk" ? [[part.fileName, part]] : [])));
  const loaded = new Set([...chunks.values()].filter(({ isEntry }) => isEntry));
  for (const { imports } of loaded) for (const name of imports) loaded.add(chunks.get(name) ?? missing(name));
  const modules = [...loaded].flatMap((chunk) =>
    Object.entries(chunk.modules).map(([id, { code }]) => /** @type {const} */ ([id.replace(root, ""), code ?? ""])),
  );
  return { code: [...loaded].map(({ code }) => code).join("\n"), modules: new Map(modules) };
}

/** @param {string} name @returns {never} */
function missing(name) {
  throw new Error(`The bundle imports ${name}, which is not part of it.`);
}

/** Of a source without `keyhole:` imports, which esbuild does not know. @param {string} source @returns {Promise<string>} */
export async function esbuildBundle(source) {
  const { outputFiles } = await esbuild({
    stdin: { contents: source, resolveDir: root },
    bundle: true,
    minify: true,
    format: "esm",
    target: "es2024",
    write: false,
    conditions,
  });
  return outputFiles.map(({ text }) => text).join("\n");
}

/** @param {string} code */
export function gzipBytes(code) {
  return gzipSync(code, { level: 9 }).length;
}

/**
 * The share of each module in a bundle: its minified bytes, at the rate at which the whole is compressed. Largest first.
 *
 * @param {Bundle} bundle
 */
export async function profileOf({ code, modules }) {
  const minified = await Promise.all(
    [...modules].map(async ([id, text]) => {
      const { code: small } = await transform(text, { minify: true, format: "esm" });
      return { id, bytes: small.length };
    }),
  );
  const rate = gzipBytes(code) / minified.reduce((sum, { bytes }) => sum + bytes, 0);
  return minified
    .map(({ id, bytes }) => ({ id, bytes: Math.round(bytes * rate) }))
    .filter(({ bytes }) => bytes > 0)
    .toSorted((a, b) => b.bytes - a.bytes);
}
