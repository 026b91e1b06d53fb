import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { compileEngine } from "@keyhole/worker-host/wasm";
import * as esbuild from "esbuild";
import { packTool } from "keyhole";
import { mapFiles, Packer } from "keyhole/packer";
import { afterAll, describe, expect, it } from "vitest";
import { program, removePrograms, toolText } from "../vite/program.ts";

afterAll(removePrograms);

const quickJs = fileURLToPath(import.meta.resolve("quickjs-wasi/quickjs.wasm"));
const engine = compileEngine(new Uint8Array(readFileSync(quickJs)));

/** A tool without an import, so that no file of this machine is needed. */
const bare = (name: string, body = "() => 'here'", before = ""): string =>
  `${before}\nexport default { definition: { name: "${name}", version: "1.0.0", description: "Under test.", input: { type: "object" }, output: { kind: "text" } }, code: { execute: ${body} } };\n`;

const packMap = (files: Readonly<Record<string, string>>, entry = "/app/tool.ts") =>
  new Packer({ esbuild, files: mapFiles(new Map(Object.entries(files))), engine: () => engine }).pack(entry);

describe("one source has one hash", () => {
  const sources = {
    "package.json": '{ "type": "module" }',
    "tool.ts": bare(
      "same",
      "() => greet() + common.name + twice('x')",
      'import { greet } from "./lib/greet.ts"; import common from "./lib/common.cjs"; import { twice } from "dep";',
    ),
    "lib/greet.ts":
      "/** Comment. */\nexport enum Tone { Low, High }\nexport const greet = (): string => `${Tone.High} \\ud800 é`;\n",
    "lib/common.cjs": "exports.__esModule = true; exports.default = 'inner'; exports.name = 'common';",
    "node_modules/dep/package.json": '{ "name": "dep", "sideEffects": false, "exports": "./dep.js" }',
    "node_modules/dep/dep.js": "exports.twice = (text) => text + text;",
  };

  it("on the disk, under another folder, and in a file map", async () => {
    const map = Object.fromEntries(Object.entries(sources).map(([path, text]) => [`/app/${path}`, text]));
    const { package: inMap, files } = await packMap(map);
    expect(files).toEqual(Object.keys(map).sort());
    for (const parent of ["a-", "a-much-longer-name-of-a-folder-"]) {
      const root = program({}, parent);
      const own = programWith(root, sources);
      const { package: onDisk } = await packTool(join(own, "tool.ts"));
      expect(onDisk).toEqual(inMap);
    }
    expect(inMap.code).not.toMatch(/greet\.ts|common\.cjs|Comment/);
  });

  it("with other line ends, a byte order mark and other comments", async () => {
    const { package: first } = await packMap({ "/app/tool.ts": bare("a", "() => {\n  return 'here';\n}") });
    const other = `\ufeff// A comment.\r\n${bare("a", "() => {\n  return 'here';\n}").replaceAll("\n", "\r\n")}`;
    expect((await packMap({ "/app/tool.ts": other })).package).toEqual(first);
  });

  it("beside a tsconfig.json that says otherwise", async () => {
    const tool = bare("a", "() => new (class { x = 1 })().x + ''");
    const { package: first } = await packMap({ "/app/tool.ts": tool });
    const config =
      '{ "compilerOptions": { "target": "ES5", "useDefineForClassFields": false, "experimentalDecorators": true } }';
    const root = programWith(program({}), { "tool.ts": tool, "tsconfig.json": config });
    expect((await packTool(join(root, "tool.ts"))).package).toEqual(first);
  });
});

describe("a package that is installed through a link", () => {
  it("is bundled once", async () => {
    const root = programWith(program({}), {
      "tool.ts": bare(
        "a",
        "() => String(one === two)",
        'import { one } from "linked"; import { one as two } from "./store/linked/index.js";',
      ),
      "store/linked/package.json": '{ "name": "linked", "type": "module", "main": "index.js" }',
      "store/linked/index.js": "export const one = { unique: 'only once' };",
      "node_modules/.keep": "",
    });
    symlinkSync(join(root, "store/linked"), join(root, "node_modules/linked"));
    const { package: pkg } = await packTool(join(root, "tool.ts"));
    expect(String(pkg.code).split("only once")).toHaveLength(2);
  });
});

describe("a CommonJS module", () => {
  it("has the default export that Node gives it, which depends on the importer's package", async () => {
    const files = (type: string) => ({
      "/app/package.json": `{ "type": "${type}" }`,
      "/app/tool.ts": bare("a", "() => ''", 'import common from "./common.cjs"; export const seen = common;'),
      "/app/common.cjs": "exports.__esModule = true; exports.default = 'inner';",
    });
    const seen = async (type: string): Promise<unknown> => {
      const { package: pkg } = await packMap(files(type));
      return ((await import(`data:text/javascript,${encodeURIComponent(String(pkg.code))}`)) as { seen: unknown }).seen;
    };
    expect(await seen("module")).toEqual({ __esModule: true, default: "inner" });
    expect(await seen("commonjs")).toBe("inner");
  });
});

describe("a hostile tool, while its manifest is read", () => {
  it("runs where it finds nothing of this process, and writes nothing", async () => {
    const names = "process require module Buffer fetch setTimeout WebSocket Worker navigator host".split(" ");
    const spy = `const found = ${JSON.stringify(names)}.filter((name) => typeof globalThis[name] !== "undefined");
globalThis.leaked = "yes"; Object.prototype.polluted = "yes"; Array.prototype.map = () => ["mine"];`;
    const text = bare("a", "() => ''", spy).replace('"Under test."', "found.join() + '.'");
    const { package: pkg } = await packMap({ "/app/tool.ts": text });
    expect(pkg.manifest.description).toBe(".");
    expect([Object.hasOwn(globalThis, "leaked"), "polluted" in {}]).toEqual([false, false]);
  });

  it.each([
    ["a loop", "for (;;);", /is still loading after 4,000,000,000 instructions/],
    ["a wait", "await new Promise(() => {});", /waits for something that never comes/],
    ["recursion", "const f = () => f(); f();", /call each other too deeply|Maximum call stack/],
    ["memory", "const all = []; for (;;) all.push(new Uint8Array(1e6));", /out of memory/],
    ["a proxy", "throw new Proxy({}, { get() { throw 1; } });", /throws when it is loaded|cannot be read/],
    [
      "another language",
      "JSON.stringify = () => '!'; Object.prototype.toJSON = () => 1;",
      /changes the language|is refused/,
    ],
  ])("is refused for %s", async (_, before, reason) => {
    await expect(packMap({ "/app/tool.ts": bare("a", "() => ''", before) })).rejects.toThrow(reason);
  });

  it.each([
    ["a function", "category: () => 1", /its manifest is refused at "\/category"/],
    ["a getter that answers twice", "get tier() { return 0; }", /./],
    ["a date", "category: new Date(0)", /its manifest is refused at "\/category"/],
    ["a cycle", "bounds: (() => { const a = {}; a.a = a; return a; })()", /its manifest is refused at "\/bounds/],
  ])("is refused for %s in its manifest", async (_, member, reason) => {
    const text = bare("a").replace('version: "1.0.0",', `version: "1.0.0", ${member},`);
    const packing = packMap({ "/app/tool.ts": text });
    if (member.startsWith("get")) expect((await packing).package.manifest.tier).toBe(0);
    else await expect(packing).rejects.toThrow(reason);
  });
});

describe("a package", () => {
  it("is the one that a kernel registers, with its manifest's members in the order in which the author wrote them", async () => {
    const root = program({ "tool.ts": toolText("greet") });
    const { package: pkg } = await packTool(join(root, "tool.ts"));
    expect(Object.keys(pkg.manifest).slice(0, 3)).toEqual(["name", "version", "description"]);
    expect(JSON.parse(JSON.stringify(pkg))).toEqual(pkg);
    expect(pkg.hash).toMatch(/^blake3:[0-9a-f]{64}$/);
  });

  it("of a file that is not there is refused by its name", async () => {
    await expect(packTool("no/such/tool.ts")).rejects.toThrow("There is no file tool.ts.");
    await expect(packTool("no/such/tool.wasm")).rejects.toThrow("There is no file tool.wasm.");
  });
});

/** Files of their own, without the packages of this repository. */
function programWith(root: string, files: Readonly<Record<string, string>>): string {
  const own = join(root, "own");
  for (const [path, text] of Object.entries(files)) {
    const at = join(own, path);
    mkdirSync(dirname(at), { recursive: true });
    writeFileSync(at, text);
  }
  return own;
}
