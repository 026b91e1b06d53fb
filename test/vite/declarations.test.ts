import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, it } from "vitest";
import { buildMain, program, removePrograms, toolText } from "./program.ts";

afterAll(removePrograms);

const importTool = 'import tool from "keyhole:./tool.ts";\nexport default tool;\n';

describe("the types of tools", () => {
  const use = `import type { Kernel } from "@keyhole/kernel";
import greet from "keyhole:./tool.ts";
import text from "keyhole:./main.ts?iife";
declare const kernel: Kernel;
kernel.register(greet);
const result = await kernel.call(greet, { name: "Ada" });
if (result.ok) { const data: string = result.data; data.length + text.length; }

await kernel.call(greet, { name: 1 });
if (result.ok) { const data: number = result.data; data; }
`;
  const tsconfig = JSON.stringify({
    extends: fileURLToPath(new URL("../../tsconfig.base.json", import.meta.url)),
    compilerOptions: {
      lib: ["ES2024", "DOM", "DOM.Iterable", "DOM.AsyncIterable"],
      types: ["keyhole/client"],
      declaration: false,
      isolatedDeclarations: false,
    },
    include: ["use.ts", "tools.d.ts"],
  });
  /** The first line of each complaint of the compiler. */
  const complaintsAbout = (root: string): readonly string[] => {
    try {
      execFileSync(fileURLToPath(new URL("../../node_modules/.bin/tsc", import.meta.url)), ["-p", root]);
      return [];
    } catch (error) {
      return String((error as { stdout: Buffer }).stdout)
        .split("\n")
        .filter((line) => /^\S/.test(line));
    }
  };
  const declaredIn = (root: string) =>
    [...readFileSync(join(root, "tools.d.ts"), "utf8").matchAll(/declare module "([^"]+)"/g)].map(([, name]) => name);

  it("let the compiler know input and output, and refuse only what does not fit", async () => {
    const root = program({
      "main.ts": importTool,
      "tool.ts": toolText("typed", "({ name }) => name ?? ''"),
      "use.ts": use,
      "tsconfig.json": tsconfig,
    });
    // Before the first build every tool is a package whose result is unknown.
    expect(complaintsAbout(root)).toEqual([
      expect.stringMatching(/^\S*use\.ts\(7,\d+\): error TS2322: Type 'unknown' is not/),
      expect.stringMatching(/^\S*use\.ts\(10,\d+\): error TS2322: Type 'unknown' is not/),
    ]);
    await buildMain(root, { dts: "tools.d.ts" });
    expect(declaredIn(root)).toEqual(["keyhole:./tool.ts"]);
    expect(complaintsAbout(root)).toEqual([
      expect.stringMatching(/^\S*use\.ts\(9,\d+\): error TS2769/),
      expect.stringMatching(/^\S*use\.ts\(10,\d+\): error TS2322: Type 'string' is not assignable to type 'number'/),
    ]);
  });

  it("are written for a tool that only a nested worker imports", async () => {
    const worker = (file: string): string => `new Worker(new URL("./${file}", import.meta.url), { type: "module" });`;
    const root = program({
      "main.ts": worker("outer.ts"),
      "outer.ts": worker("inner.ts"),
      "inner.ts": importTool,
      "tool.ts": toolText("inner"),
    });
    await buildMain(root, { dts: "types/tools.d.ts" });
    expect(readFileSync(join(root, "types/tools.d.ts"), "utf8")).toContain('typeof import("../tool.ts")');
  });

  it("keep what another build wrote, without what is gone and what one specifier has two files for", async () => {
    const files = {
      "main.ts": importTool,
      "tool.ts": toolText("one"),
      "other.ts": toolText("two"),
      "sub/tool.ts": toolText("three"),
    };
    const root = program({
      ...files,
      "tools.d.ts": `declare module "keyhole:./other.ts" { const pkg: import("@keyhole/kernel").PackageOf<typeof import("./other.ts").default>; }
declare module "keyhole:./gone.ts" { const pkg: import("@keyhole/kernel").PackageOf<typeof import("./gone.ts").default>; }`,
    });
    await buildMain(root, { dts: "tools.d.ts" });
    expect(declaredIn(root)).toEqual(["keyhole:./other.ts", "keyhole:./tool.ts"]);
    writeFileSync(join(root, "main.ts"), 'export { default as a } from "./sub/main.ts";\n' + importTool);
    writeFileSync(join(root, "sub/main.ts"), importTool);
    await buildMain(root, { dts: "tools.d.ts" });
    expect(declaredIn(root)).toEqual(["keyhole:./other.ts"]);
    writeFileSync(
      join(root, "main.ts"),
      'import a from "keyhole:./tool.ts"; import b from "keyhole:./sub/tool.ts"; export default [a, b];',
    );
    await buildMain(root, { dts: "tools.d.ts" });
    expect(declaredIn(root)).toEqual(["keyhole:./other.ts", "keyhole:./sub/tool.ts", "keyhole:./tool.ts"]);
  });
});
