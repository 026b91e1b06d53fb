import { mapFiles } from "keyhole/packer";
import { describe, expect, it } from "vitest";
import { hasSideEffects } from "../../packages/keyhole/src/pack/package-json.ts";
import { type ImportForm, Resolver } from "../../packages/keyhole/src/pack/resolve.ts";

const json = (value: object): string => JSON.stringify(value);

const files = mapFiles(
  new Map([
    [
      "/app/package.json",
      json({
        name: "app",
        type: "module",
        exports: { "./words": "./src/words.ts" },
        imports: { "#lib": "./src/lib.js", "#dep": "plain" },
      }),
    ],
    ["/app/tools/echo.ts", ""],
    ["/app/src/words.ts", ""],
    ["/app/src/lib.ts", ""],
    ["/app/src/old.cjs", ""],
    ["/app/src/data.json", ""],
    ["/app/src/folder/index.tsx", ""],
    ["/app/src/named.v2.ts", ""],
    ["/app/node_modules/plain/package.json", json({ name: "plain", main: "./lib/main", module: "./lib/module.mjs" })],
    ["/app/node_modules/plain/lib/main.js", ""],
    ["/app/node_modules/plain/lib/module.mjs", ""],
    ["/app/node_modules/plain/lib/deep.js", ""],
    ["/app/node_modules/only-main/package.json", json({ main: "lib" })],
    ["/app/node_modules/only-main/lib/index.js", ""],
    [
      "/app/node_modules/@scope/two/package.json",
      json({
        type: "commonjs",
        exports: { ".": { require: "./two.cjs", import: "./two.mjs" }, "./x/*": "./x/*.js", "./none": null },
      }),
    ],
    ["/app/node_modules/@scope/two/two.cjs", ""],
    ["/app/node_modules/@scope/two/two.mjs", ""],
    ["/app/node_modules/@scope/two/x/y.js", ""],
    ["/app/node_modules/@scope/two/secret.js", ""],
    [
      "/app/node_modules/source/package.json",
      json({ exports: { ".": { "keyhole-source": "./a.ts", default: "./a.js" } } }),
    ],
    ["/app/node_modules/source/a.ts", ""],
    ["/app/node_modules/source/a.js", ""],
    ["/app/node_modules/buffer/package.json", json({ main: "index.js" })],
    ["/app/node_modules/buffer/index.js", ""],
    ["/node_modules/outer/index.js", ""],
    ["/node_modules/outer/package.json", "{"],
    ["C:/app/a.ts", ""],
    ["C:/app/b.ts", ""],
  ]),
);

const resolver = new Resolver(files);
const from = "/app/tools/echo.ts";
const find = (source: string, form: ImportForm = "import", importer = from): string =>
  resolver.resolve(source, importer, form).path;

describe("the packer's resolver", () => {
  it.each([
    ["../src/words.ts", "/app/src/words.ts"],
    ["../src/words", "/app/src/words.ts"],
    ["../src/lib.js", "/app/src/lib.ts"],
    ["../src/named.v2", "/app/src/named.v2.ts"],
    ["../src/data", "/app/src/data.json"],
    ["../src/folder", "/app/src/folder/index.tsx"],
    ["../src/folder/", "/app/src/folder/index.tsx"],
    ["./echo.ts", "/app/tools/echo.ts"],
    ["/app/src/old.cjs", "/app/src/old.cjs"],
    ["#lib", "/app/src/lib.ts"],
    ["#dep", "/app/node_modules/plain/lib/module.mjs"],
    ["app/words", "/app/src/words.ts"],
    ["plain", "/app/node_modules/plain/lib/module.mjs"],
    ["plain/lib/deep", "/app/node_modules/plain/lib/deep.js"],
    ["only-main", "/app/node_modules/only-main/lib/index.js"],
    ["@scope/two", "/app/node_modules/@scope/two/two.mjs"],
    ["@scope/two/x/y", "/app/node_modules/@scope/two/x/y.js"],
    ["source", "/app/node_modules/source/a.js"],
    ["buffer", "/app/node_modules/buffer/index.js"],
    ["outer", "/node_modules/outer/index.js"],
  ])("finds %s", (source, path) => {
    expect(find(source)).toBe(path);
  });

  it("takes the conditions that it is given, and tells import from require", () => {
    expect(find("@scope/two", "require")).toBe("/app/node_modules/@scope/two/two.cjs");
    expect(new Resolver(files, ["keyhole-source"]).resolve("source", from, "import").path).toBe(
      "/app/node_modules/source/a.ts",
    );
  });

  it("finds a file beside another on Windows", () => {
    expect(find("./b", "import", "C:/app/a.ts")).toBe("C:/app/b.ts");
    expect(find("C:/app/b.ts", "import", "C:/app/a.ts")).toBe("C:/app/b.ts");
  });

  it.each([
    ["./absent.ts", /"\.\/absent\.ts" cannot be found under the root \(imported by echo\.ts\)/],
    ["../../../../../../x", /cannot be found/],
    ["absent", /"absent" cannot be found/],
    ["plain/absent", /cannot be found/],
    ["@scope/two/secret.js", /cannot be found/],
    ["@scope/two/none", /cannot be found/],
    ["@scope", /cannot be found/],
    ["#absent", /cannot be found/],
    ["", /cannot be found/],
    ["node:fs", /imports "node:fs" \(imported by echo\.ts\), which only one platform has/],
    ["fs/promises", /imports "fs\/promises" .* which only one platform has/],
    ["cloudflare:workers", /which only one platform has/],
  ])("refuses %s", (source, reason) => {
    expect(() => find(source)).toThrow(reason);
  });

  const outside = new Map([
    ["/secret.json", "{}"],
    ["/home/me/.docker/config.json", "{}"],
    [
      "/srv/app/package.json",
      json({ name: "app", exports: { "./x": "./../../secret.json" }, imports: { "#x": "./../../secret.json" } }),
    ],
    ["/srv/app/tools/echo.ts", ""],
    ["/srv/app/lib/a.ts", ""],
    ["/srv/app/node_modules/bad/package.json", json({ main: "../../../../secret.json", name: "bad" })],
    ["/srv/app/node_modules/bad/index.js", ""],
    ["/srv/app/node_modules/esm/package.json", json({ name: "esm" })],
    ["/srv/app/node_modules/esm/lib/b.js", ""],
    ["/srv/app/node_modules/esm/dist/package.json", json({ type: "module" })],
    ["/srv/app/node_modules/esm/dist/index.js", ""],
    ["/srv/app/node_modules/linked/package.json", json({ name: "linked", main: "a.js" })],
    ["/srv/linked/package.json", json({ name: "linked", main: "a.js" })],
    ["/srv/linked/a.js", ""],
    ["/srv/app/node_modules/linked/package.json", json({ name: "linked", main: "a.js" })],
    ["/srv/linked/package.json", json({ name: "linked", main: "a.js" })],
    ["/srv/linked/a.js", ""],
    ["/srv/app/tools/link.json", ""],
    ["/srv/app/node_modules/moved/package.json", "{}"],
    ["/srv/app/lib/secret.json", "{}"],
    ["/srv/app/vendor/a.ts", ""],
    ["/srv/app/vendor/package.json", "{}"],
    ["/loose/tools/echo.ts", ""],
    ["/loose/b.ts", ""],
  ]);
  const links: ReadonlyMap<string, string> = new Map([
    ["/srv/app/tools/link.json", "/home/me/.docker/config.json"],
    ["/srv/app/node_modules/linked", "/srv/linked"],
    ["/srv/app/node_modules/moved/package.json", "/srv/app/lib/secret.json"],
  ]);
  const realPath = (path: string): string => {
    const [link] = [...links].filter(([from]) => path === from || path.startsWith(`${from}/`));
    return link === undefined ? path : `${link[1]}${path.slice(link[0].length)}`;
  };
  const linked = { ...mapFiles(outside), realPath };
  const within = (source: string, importer: string): string =>
    new Resolver(linked).resolve(source, importer, "import").path;
  const tool = "/srv/app/tools/echo.ts";

  it.each([
    "../../../secret.json",
    "/secret.json",
    "/home/me/.docker/config.json",
    "./link.json",
    "bad",
    "bad/../../../../secret.json",
    "#x",
    "app/x",
    "moved/../../lib/secret.json",
  ])("refuses %s in a bundle: the file is outside of the package", (source) => {
    expect(() => within(source, tool)).toThrow(/outside of its package|cannot be found/);
  });

  it("bounds a file in no package by the root alone", () => {
    expect(within("../b.ts", "/loose/tools/echo.ts")).toBe("/loose/b.ts");
  });

  it("takes a folder for a package where its package.json has a name", () => {
    expect(within("../lib/a", "/srv/app/vendor/a.ts")).toBe("/srv/app/lib/a.ts");
  });

  it("finds files of the package, of packages in it, and of linked ones", () => {
    expect(within("../lib/a", tool)).toBe("/srv/app/lib/a.ts");
    expect(within("linked", tool)).toBe("/srv/linked/a.js");
    expect(within("../lib/b.js", "/srv/app/node_modules/esm/dist/index.js")).toBe("/srv/app/node_modules/esm/lib/b.js");
  });

  it("tells modules from CommonJS as Node does", () => {
    const isModule = (path: string): boolean => resolver.isModule(path);
    expect(["/app/src/words.ts", "/app/node_modules/plain/lib/module.mjs"].filter(isModule)).toHaveLength(2);
    expect(["/app/src/old.cjs", "/app/node_modules/plain/lib/main.js", "C:/app/a.ts"].filter(isModule)).toEqual([]);
  });
});

describe("`sideEffects` of a package", () => {
  it.each([
    [undefined, "a.js", true],
    [false, "a.js", false],
    [true, "a.js", true],
    [[], "a.js", false],
    [["./a.js"], "a.js", true],
    [["./a.js"], "b/a.js", false],
    [["*.css"], "deep/in/x.css", true],
    [["*.css"], "deep/in/x.css.js", false],
    [["src/*.js"], "src/a.js", true],
    [["src/*.js"], "src/b/a.js", false],
    [["**/polyfill/**"], "polyfill/a.js", true],
    [["**/polyfill/**"], "a/b/polyfill/c/d.js", true],
    [["**/polyfill/**"], "a/polyfills/d.js", false],
    [["a+(b).js"], "a+(b).js", true],
  ])("%j for %s is %s", (sideEffects, path, expected) => {
    expect(hasSideEffects(sideEffects === undefined ? {} : { sideEffects }, path)).toBe(expected);
  });
});
