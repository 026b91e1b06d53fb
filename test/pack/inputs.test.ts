import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { compileEngine } from "@keyhole/worker-host/wasm";
import * as esbuild from "esbuild";
import { type BundleError, mapFiles, type PackedTool, Packer } from "keyhole/packer";
import { describe, expect, it } from "vitest";

const quickJs = fileURLToPath(import.meta.resolve("quickjs-wasi/quickjs.wasm"));
const engine = compileEngine(new Uint8Array(readFileSync(quickJs)));

const app = {
  "/app/package.json": '{ "name": "app", "type": "module", "imports": { "#lib": "./lib/lib.js" } }',
  "/app/tools/tool.ts": `import { word } from "../lib/word"; import lib from "#lib"; import common from "../lib/common.cjs"; import dep from "dep";
import shell from "keyhole:./shell.ts?iife";
export default { definition: { name: "made", version: "1.0.0", description: word + lib + (common.default ?? common) + dep + shell, input: { type: "object" }, output: { kind: "text" } }, code: { execute: () => "" } };`,
  "/app/tools/shell.ts": "globalThis.x = 1;",
  "/app/lib/word.js": "export const word = 'word';",
  "/app/lib/lib.js": "export default 'lib';",
  "/app/lib/common.cjs": "exports.__esModule = true; exports.default = 'common';",
  "/app/node_modules/dep/package.json": '{ "name": "dep", "main": "dep.js" }',
  "/app/node_modules/dep/dep.js": "module.exports = 'dep';",
};

/** Each of these is one more or one other file. */
const edits: Readonly<Record<string, string>> = {
  "/app/package.json": '{ "name": "app", "imports": { "#lib": "./lib/word.js" } }',
  "/app/tools/package.json": '{ "type": "commonjs" }',
  "/app/tools/tool.ts": "export default 1;",
  "/app/tools/tool.json": "{}",
  "/app/tools/shell.ts": "globalThis.x = 2;",
  "/app/tools/node_modules/dep/package.json": '{ "name": "dep", "main": "../../shell.ts" }',
  "/app/lib/word": "export const word = 'without ending';",
  "/app/lib/word.ts": "export const word = 'typed';",
  "/app/lib/word.js": "export const word = 'other';",
  "/app/lib/word.mjs": "export const word = 'never';",
  "/app/lib/lib.js": "export default 'other';",
  "/app/lib/lib.ts": "export default 'never';",
  "/app/lib/common.cjs": "exports.default = 'other';",
  "/app/lib/package.json": '{ "type": "commonjs" }',
  "/app/node_modules/dep/package.json": '{ "name": "dep", "main": "dep.js", "exports": "./other.js" }',
  "/app/node_modules/dep/dep.js": "module.exports = 'other';",
  "/app/node_modules/dep/index.js": "module.exports = 'never';",
  "/app/tsconfig.json": '{ "compilerOptions": { "target": "ES5" } }',
  "/tools/tool.ts": "export default 1;",
};

type Outcome = PackedTool | BundleError;

const packed = (files: Readonly<Record<string, string>>, entry = "/app/tools/tool.ts"): Promise<Outcome> =>
  new Packer({ esbuild, files: mapFiles(new Map(Object.entries(files))), engine: () => engine })
    .pack(entry)
    .catch((error: unknown) => error as BundleError);

const whatOf = (outcome: Outcome): unknown => ("package" in outcome ? outcome.package : outcome.message);

const without = (files: Readonly<Record<string, string>>, path: string): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(files).filter(([each]) => each !== path));

describe("the inputs of a package", () => {
  it.each([
    ["that is made", app],
    ["that fails in the resolver", without(app, "/app/lib/word.js")],
    ["that fails in its manifest", { ...app, "/app/lib/lib.js": "throw 1;" }],
  ])("%s name each file whose change makes another one", async (_, files) => {
    const before = await packed(files);
    const inputs = new Set([...before.files, ...before.missing]);
    const others = Object.entries(edits).filter(([path]) => !inputs.has(path));
    expect(others.length).toBeLessThan(Object.keys(edits).length / 2);
    for (const [path, text] of others)
      expect(whatOf(await packed({ ...files, [path]: text })), path).toEqual(whatOf(before));
  });

  it("are the files that are there, and those that were looked for", async () => {
    const { files, missing } = await packed(app);
    expect(files).toEqual(Object.keys(app).sort());
    expect(missing).toEqual(expect.arrayContaining(["/app/lib/word.ts", "/app/tools/package.json"]));
    expect(missing.filter((each) => files.includes(each))).toEqual([]);
  });

  it("of a module that has no manifest name the manifest", async () => {
    const { files, missing } = await packed({ "/app/hello.wasm": "" }, "/app/hello.wasm");
    expect({ files, missing }).toEqual({ files: ["/app/hello.wasm"], missing: ["/app/hello.json"] });
  });
});
