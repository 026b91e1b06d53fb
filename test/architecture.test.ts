import { existsSync, globSync, readFileSync } from "node:fs";
import { basename } from "node:path";
import { describe, expect, it } from "vitest";
import { errorCodes, setupErrorCodes } from "../packages/kernel/src/result.ts";
import { circles } from "./architecture/circles.ts";
import * as known from "./architecture/exceptions.ts";
import {
  declaredDependencies,
  kernelFolder,
  kernelViolations,
  packageDirections,
  packageOf,
  packageViolations,
} from "./architecture/imports.ts";
import { parseSource, readSources, root, type SourceFile } from "./support/sources.ts";

const maxLines = 300;
/** A file that is a known exception can grow up to here. */
const maxLinesOfExceptions = 350;
const maxFunctionLines = 60;

const sources = readSources(
  "packages/kernel/src",
  "packages/worker-host/src",
  "packages/keyhole/src",
  "packages/mcp/src",
  "packages/edge/src",
  "packages/agents/src",
  "packages/bus/src",
  "packages/playground/src",
);
const tests = readSources("test");
const everything = [...sources, ...tests, ...readSources("scripts")];

/** Faults that the list of exceptions does not name, and names of the list that are no fault any more. */
function unlisted(found: readonly string[], listed: readonly string[]): string[] {
  const rest = [...found];
  const gone = listed.filter((name) => {
    const at = rest.indexOf(name);
    if (at >= 0) rest.splice(at, 1);
    return at < 0;
  });
  return [
    ...rest.map((name) => `${name}: correct it, no exception can be added`),
    ...gone.map((name) => `${name}: remove it from test/architecture/exceptions.ts`),
  ];
}

function longFunctions(files: readonly SourceFile[]): string[] {
  return files.flatMap((file) =>
    file.functions.filter(({ lineCount }) => lineCount > maxFunctionLines).map(({ name }) => `${file.path} ${name}`),
  );
}

function longFiles(files: readonly SourceFile[]): string[] {
  return files.filter(({ lineCount }) => lineCount > maxLines).map(({ path }) => path);
}

const joined = (groups: readonly (readonly string[])[]): string[] => groups.map((group) => group.join(" "));

describe("the rules", () => {
  it("see the sources", () => {
    expect(sources.length).toBeGreaterThan(20);
    expect(tests.length).toBeGreaterThan(5);
    expect(everything.map(({ path }) => path)).toContain("scripts/check.mjs");
    expect(new Set(sources.map((file) => packageOf(file.path)))).toEqual(new Set(Object.keys(packageDirections)));
    expect(sources.flatMap((file) => file.imports).length).toBeGreaterThan(100);
  });

  it("refuse what they are there to refuse", () => {
    const file = (path: string, text: string): SourceFile[] => [parseSource(path, text)];
    const kernel = `${kernelFolder}normalize/x.ts`;
    expect(packageViolations(file(kernel, `import { z } from "zod";`))).toHaveLength(1);
    expect(packageViolations(file(kernel, `import { z } from "node:fs";`))).toHaveLength(1);
    expect(packageViolations(file(kernel, `export * from "@keyhole/edge";`))).toHaveLength(1);
    expect(packageViolations(file(kernel, `const x = await import("../../../edge/src/x.ts");`))).toHaveLength(1);
    expect(packageViolations(file("packages/worker-host/src/tools/x.ts", `import "node:fs";`))).toHaveLength(1);
    expect(packageViolations(file("packages/worker-host/src/node/x.ts", `import "node:fs";`))).toEqual([]);
    expect(kernelViolations(file(kernel, `import { a } from "../policy/a.ts";`))).toHaveLength(1);
    expect(kernelViolations(file(kernel, `type A = import("../policy/a.ts").A;`))).toHaveLength(1);
    expect(kernelViolations(file(`${kernelFolder}policy/x.ts`, `import type { A } from "../isolate/a.ts";`))).toEqual(
      [],
    );
    expect(kernelViolations(file(`${kernelFolder}policy/x.ts`, `import { a } from "../isolate/a.ts";`))).toHaveLength(
      1,
    );
    expect(kernelViolations(file(`${kernelFolder}unknown/x.ts`, ``))).toHaveLength(1);
    const banned = parseSource(
      "x.ts",
      `let a: any;\nenum B {}\nnamespace C {}\n// @ts-ignore\ndeclare module "d" {}`,
    ).banned;
    expect(banned).toEqual(["any at line 1", "enum at line 2", "namespace at line 3", "@ts-ignore at line 4"]);
  });
});

describe("the rule about circles", () => {
  const files = (...texts: readonly string[]): SourceFile[] =>
    texts.map((text, index) => parseSource(`p/${"abcd"[index]}.ts`, text));
  const everyKind = ["value", "type"] as const;

  it("finds a circle of values, and a circle that a type closes", () => {
    const values = files(`import "./b.ts";`, `export * from "./a.ts";`);
    expect(circles(values, ["value"])).toEqual([["p/a.ts", "p/b.ts"]]);
    const types = files(`import "./b.ts";`, `import type { A } from "./c.ts";`, `type A = import("./a.ts").A;`);
    expect(circles(types, ["value"])).toEqual([]);
    expect(circles(types, everyKind)).toEqual([["p/a.ts", "p/b.ts", "p/c.ts"]]);
    expect(circles(files(`export type * from "./a.ts";`), everyKind)).toEqual([["p/a.ts"]]);
  });

  it("joins circles that share a file, and leaves out files that only lead to one", () => {
    const shared = files(
      `import "./b.ts";`,
      `import "./a.ts"; import "./c.ts";`,
      `import type { B } from "./b.ts";`,
      `import "./a.ts";`,
    );
    expect(circles(shared, everyKind)).toEqual([["p/a.ts", "p/b.ts", "p/c.ts"]]);
    const apart = files(
      `import "./b.ts";`,
      `import "./a.ts";`,
      `import "./d.ts"; import "./a.ts";`,
      `import "./c.ts";`,
    );
    expect(circles(apart.toReversed(), everyKind)).toEqual([
      ["p/a.ts", "p/b.ts"],
      ["p/c.ts", "p/d.ts"],
    ]);
    expect(circles(files(`import "./b.ts"; import "./c.ts";`, `import "./c.ts";`, ``), everyKind)).toEqual([]);
  });
});

describe("the rules about length", () => {
  const body = (lines: number): string => "\n".repeat(lines - 1);
  const long = (text: string): string[] => longFunctions([parseSource("x.ts", text)]);

  it("find a function of 61 lines in every form, nested functions included", () => {
    expect(long(`function f() {${body(60)}}`)).toEqual([]);
    expect(long(`function f() {${body(61)}}`)).toEqual(["x.ts f"]);
    expect(long(`export default function () {${body(61)}}`)).toEqual(["x.ts export default"]);
    expect(long(`const f = () => {${body(61)}};`)).toEqual(["x.ts f"]);
    expect(long(`class A { constructor() {${body(61)}} }`)).toEqual(["x.ts constructor"]);
    expect(long(`class A { #m() {${body(61)}} }`)).toEqual(["x.ts #m"]);
    expect(long(`class A { m = () => {${body(61)}}; }`)).toEqual(["x.ts m"]);
    expect(long(`const o = { m() {${body(61)}}, get n() {${body(61)}} };`)).toEqual(["x.ts m", "x.ts n"]);
    expect(long(`x.f = async function () {${body(61)}};`)).toEqual(["x.ts x.f"]);
    expect(long(`(() => {${body(61)}})();`)).toEqual(["x.ts a function without a name"]);
    expect(long(`function f() {\nconst g = () => {${body(60)}};}`)).toEqual(["x.ts f"]);
  });

  it("count a callback of `it`, not one of `describe`", () => {
    expect(long(`it("opens", () => {${body(61)}});`)).toEqual([`x.ts it("opens")`]);
    expect(long(`it.each([1])("opens", () => {${body(61)}});`)).toEqual([`x.ts it.each("opens")`]);
    expect(long(`describe("a file", () => {${body(61)}});`)).toEqual([]);
    expect(long(`describe.each([1])("a file", () => {${body(61)}});`)).toEqual([]);
    expect(long(`describe("a file", () => { it("opens", () => {${body(61)}}); });`)).toEqual([`x.ts it("opens")`]);
    expect(long(`describeFiles("a file", () => {${body(61)}});`)).toEqual([`x.ts describeFiles("a file")`]);
    expect(long(`function describeFiles() { describe("a file", () => {${body(61)}}); }`)).toEqual([
      "x.ts describeFiles",
    ]);
  });

  it("find a file of 301 lines", () => {
    expect(longFiles([parseSource("x.ts", "\n".repeat(300))])).toEqual([]);
    expect(longFiles([parseSource("x.ts", "\n".repeat(301))])).toEqual(["x.ts"]);
  });
});

describe("the list of exceptions", () => {
  it("can only shrink: a new fault fails, and so does a listed one that is gone", () => {
    expect(unlisted(["a", "b"], ["a", "b"])).toEqual([]);
    expect(unlisted(["a", "b"], ["a"])).toEqual(["b: correct it, no exception can be added"]);
    expect(unlisted(["a"], ["a", "b"])).toEqual(["b: remove it from test/architecture/exceptions.ts"]);
    expect(unlisted(["a", "a"], ["a"])).toHaveLength(1);
    expect(unlisted(["a"], ["a", "a"])).toHaveLength(1);
  });
});

describe("imports", () => {
  it("between packages go one way, and each package declares what it uses", () => {
    expect(packageViolations(sources)).toEqual([]);
  });

  it("of the kernel name no package at all", () => {
    const kernel = sources.filter((file) => packageOf(file.path) === "kernel");
    expect(kernel.flatMap((file) => file.imports).filter(({ specifier }) => !specifier.startsWith("."))).toEqual([]);
    expect(declaredDependencies("kernel")).toEqual(new Set());
  });

  it("of the kernel are all static: a service worker can load no module later", () => {
    const kernel = sources.filter((file) => packageOf(file.path) === "kernel");
    expect(kernel.flatMap((file) => file.dynamicImports.map((line) => `${file.path}:${line}`))).toEqual([]);
    expect(parseSource("x.ts", "const x = () => import(name);").dynamicImports).toEqual([1]);
  });

  it("between the kernel's folders follow the way of a call", () => {
    expect(kernelViolations(sources.filter((file) => packageOf(file.path) === "kernel"))).toEqual([]);
  });

  it("form no circle of values", () => {
    expect(circles(everything, ["value"])).toEqual([]);
  });

  it("form no circle of types but the known ones", () => {
    expect(unlisted(joined(circles(everything, ["value", "type"])), joined(known.circles))).toEqual([]);
  });
});

describe("files", () => {
  it(`have at most ${maxLines} lines, and known exceptions at most ${maxLinesOfExceptions}`, () => {
    expect(unlisted(longFiles(everything), known.longFiles)).toEqual([]);
    expect(everything.filter(({ lineCount }) => lineCount > maxLinesOfExceptions).map(({ path }) => path)).toEqual([]);
  });

  it(`have functions of at most ${maxFunctionLines} lines, except known ones`, () => {
    expect(unlisted(longFunctions(everything), known.longFunctions)).toEqual([]);
  });

  it("do without any, enum, namespace and @ts-ignore", () => {
    const banned = [...sources, ...tests].flatMap((file) => file.banned.map((what) => `${file.path}: ${what}`));
    expect(banned).toEqual([]);
  });
});

describe("error codes", () => {
  const codes: readonly string[] = [...errorCodes, ...setupErrorCodes];

  it.each(codes)("%s has a page", (code) => {
    expect(existsSync(`${root}docs/errors/${code}.md`)).toBe(true);
  });

  it("have no page without a code", () => {
    const pages = globSync("docs/errors/*.md", { cwd: root }).map((path) => basename(path, ".md"));
    expect(pages.filter((page) => !["README", "messages"].includes(page) && !codes.includes(page))).toEqual([]);
  });
});

describe("dependencies", () => {
  const peers = globSync("test/peers/*/package.json", { cwd: root }).sort();
  const manifests = [
    "package.json",
    ...Object.keys(packageDirections).map((name) => `packages/${name}/package.json`),
    ...peers,
  ];

  it.each(manifests)("%s pins exact versions", (path) => {
    const manifest = JSON.parse(readFileSync(root + path, "utf8")) as Record<
      string,
      Record<string, string> | undefined
    >;
    const ranges = ["dependencies", "devDependencies", "optionalDependencies"]
      .flatMap((field) => Object.entries(manifest[field] ?? {}))
      .filter(([, version]) => !/^(?:npm:[\w@/-]+@)?\d+\.\d+\.\d+(?:-[\w.]+)?$/.test(version));
    expect(ranges).toEqual([]);
  });

  const locks = ["package.json", ...peers].map((path) => path.replace(/package\.json$/, "package-lock.json"));

  it.each(peers)("%s has a lock for exactly its packages", (path) => {
    const read = (file: string): unknown => JSON.parse(readFileSync(root + file, "utf8"));
    const lock = read(path.replace(/package\.json$/, "package-lock.json"));
    const {
      name: _,
      private: _private,
      type: _type,
      overrides: _overrides,
      ...dependencies
    } = read(path) as Record<string, unknown>;
    expect(Object.keys(dependencies).length).toBeGreaterThan(0);
    expect(lock).toMatchObject({ packages: { "": dependencies } });
  });

  it.each(locks)("come from whatever registry is set: %s names none", (path) => {
    const lock = JSON.parse(readFileSync(root + path, "utf8")) as {
      readonly packages: Readonly<Record<string, { readonly resolved?: string; readonly version?: string }>>;
    };
    const entries = Object.values(lock.packages);
    expect(entries.filter(({ version }) => version !== undefined).length).toBeGreaterThan(0);
    expect(entries.filter(({ resolved }) => resolved?.includes("://"))).toEqual([]);
  });
});
