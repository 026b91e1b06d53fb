import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { isRunnableDevEnvironment, type ViteDevServer } from "vite";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { thorough } from "../support/size.ts";
import { buildMain, program, removePrograms, serveModules, toolText } from "./program.ts";

const importTool = 'import tool from "keyhole:./tool.ts";\nexport default tool;\n';

afterAll(removePrograms);

describe("a build", () => {
  it("gives the same bytes in every folder and on every run", async () => {
    const files = {
      "main.ts": importTool,
      "tool.ts": `/*! kept by nobody */ import { twice } from "./lib/twice.ts"; import deep from "./lib/deep.cjs";\n${toolText("same", "({ name }) => twice(name ?? '') + deep.name")}`,
      "lib/twice.ts": "/** Comment. */ export const twice = (text: string): string => text + text;",
      "lib/deep.cjs": "module.exports = { name: 'deep' };",
    };
    const first = program(files, "a-");
    const second = program(files, "a-much-longer-name-of-a-folder-");
    // Vite itself names the folder in a comment above the package.
    const packageIn = (text: string) => /JSON\.parse\((.*)\)/.exec(text)?.[1];
    const outputs = [await buildMain(first), await buildMain(first), await buildMain(second)].map(packageIn);
    expect(new Set(outputs).size).toBe(1);
    expect(outputs[0]).not.toContain(first);
    expect(outputs[0]).not.toMatch(/twice\.ts|deep\.cjs|kept by nobody/);
    expect(outputs[0]).toMatch(/blake3:[0-9a-f]{64}/);
  });

  it("takes a shell that carries another bundle", async () => {
    const root = program({
      "main.ts": 'import text from "keyhole:./outer.ts?iife"; export default text;',
      "outer.ts": 'import inner from "keyhole:./inner.ts?esm"; globalThis.inner = inner;',
      "inner.ts": "export const innermost = 42;",
    });
    expect(await buildMain(root)).toMatch(/=42.*globalThis\.inner=/);
  });

  it("fails for a tool that cannot be packed, and names file and reason", async () => {
    const building = buildMain(program({ "main.ts": importTool, "tool.ts": "export default {" }));
    await expect(building).rejects.toThrow(
      /keyhole:tool\.ts cannot be imported: .*Expected identifier but found end of file \(tool\.ts:1:17\)/s,
    );
  });
});

describe("a tool file that is imported with a query in place of the scheme", () => {
  it.each([
    'import tool from "./tool.ts?tool"; export default tool;',
    'import tool from "./tool.ts?v=1&tool"; export default tool;',
    'import tool from "./tool.ts?keyhole"; export default tool;',
    'export default () => import("./tool.ts?tool");',
    'export default import.meta.glob("./tool.ts", { query: "?tool" });',
    'export * from "./tool.ts?tool=1";',
  ])("fails the build: %s", async (text) => {
    const building = buildMain(program({ "main.ts": text, "tool.ts": toolText("evil") }));
    await expect(building).rejects.toThrow(/Got the import ".*"; expected "keyhole:.*tool\.ts"/);
  });
});

describe("a tool that cannot be packed", () => {
  let root: string;
  let server: ViteDevServer;
  beforeAll(async () => {
    root = program({ "main.ts": importTool, "empty.ts": "export {};" });
    server = await serveModules(root);
  });
  afterAll(() => server.close());

  it.each([
    ["a syntax error", "export default {", /Expected identifier but found end of file \(tool\.ts:1:17\)/],
    ["no default export", "export const a = 1;", /default export is not a tool/],
    ["a default export that is no tool", "export default { definition: {} };", /default export is not a tool/],
    ["a tool without input", toolText("a").replace("input:", "inputs:"), /its tool has no `input`/],
    ["a tool without output", toolText("a").replace("output:", "outputs:"), /its tool has no `output`/],
    ["a tool without execute", toolText("a").replace("execute:", "run:"), /its tool has no `execute`/],
    [
      "a throw at load",
      `throw new Error("too early");\n${toolText("a")}`,
      /throws when it is loaded: Error: too early/,
    ],
    ["a throw of nothing", `throw undefined;\n${toolText("a")}`, /throws when it is loaded: undefined/],
    [
      "the end of the process",
      `globalThis.process.exit(0);\n${toolText("a")}`,
      /throws when it is loaded: TypeError: cannot read property 'exit' of undefined/,
    ],
    ["a loop", `for (;;);\n${toolText("a")}`, /is still loading after 4,000,000,000 instructions/],
    [
      "a wait without an end",
      `await new Promise(() => {});\n${toolText("a")}`,
      /waits for something that never comes: while a tool loads, it has no timers and no network/,
    ],
    [
      "an import of node:",
      `import fs from "node:fs";\n${toolText("a", "() => String(fs)")}`,
      /imports "node:fs" \(imported by tool\.ts\), which only one platform has/,
    ],
    [
      "an import of a platform",
      `import { env } from "cloudflare:workers";\n${toolText("a", "() => String(env)")}`,
      /imports "cloudflare:workers"/,
    ],
    [
      "an import that is not there",
      `import x from "./missing.ts";\n${toolText("a", "() => x")}`,
      /"\.\/missing\.ts" cannot be found under the root \(imported by tool\.ts\) \(tool\.ts:1:15\)/,
    ],
    [
      "a package that is not there",
      `import x from "no-such-package";\n${toolText("a", "() => x")}`,
      /"no-such-package" cannot be found under the root \(imported by tool\.ts\)/,
    ],
    [
      "an export that is not there",
      `import { x } from "./empty.ts";\n${toolText("a", "() => x")}`,
      /No matching export in "empty\.ts" for import "x" \(tool\.ts:1:10\)/,
    ],
    [
      "a package in itself",
      `import x from "keyhole:./tool.ts";\n${toolText("a", "() => x.hash")}`,
      /tool\.ts would have to contain itself/,
    ],
    [
      "a key that is a prototype elsewhere",
      toolText("a").replace('name: { type: "string" }', '["__proto__"]: {}'),
      /manifest is refused at "\/input\/properties\/__proto__"/,
    ],
    [
      "an import at run time",
      toolText("a", "(input) => import(input.name)"),
      /calls `import\(\)` with a module that only the run determines/,
    ],
    ["a bad name", toolText("Not A Name"), /manifest is refused: \/name: expected/],
    ["a bad version", toolText("a").replace("1.0.0", "one"), /manifest is refused: \/version: expected/],
    ["a bad schema", toolText("a").replace('type: "object"', 'type: "objekt"'), /manifest is refused: \/input/],
    ["an unknown key", toolText("a", undefined, "colour: 'red',"), /manifest is refused: The value/],
    [
      "an effect that is not declared",
      toolText("a", undefined, "determinism: 'external', capabilities: [{ kind: 'net.read', hosts: ['*'] }],"),
      /effect/,
    ],
    ["a manifest that is no data", toolText("a", undefined, "category: (() => 1) as never,"), /manifest is refused/],
  ])("is refused with file and reason: %s", async (_, text, reason) => {
    writeFileSync(join(root, "tool.ts"), text);
    const { client } = server.environments;
    client.moduleGraph.invalidateAll();
    // An id is for the imports of modules.
    await client.transformRequest("/main.ts");
    const attempts = [client.transformRequest("/tool.ts?keyhole-tool"), ...(thorough ? [buildMain(root)] : [])];
    await Promise.allSettled(attempts);
    for (const attempt of attempts) {
      await expect(attempt).rejects.toThrow(/keyhole:tool\.ts cannot be imported: /);
      await expect(attempt).rejects.toThrow(reason);
    }
  });
});

describe("a dev server", () => {
  it("serves no file that no module imports, in any form of a request", async () => {
    const root = program({ "main.ts": importTool, "tool.ts": toolText("served"), ".env": "TOKEN=1" });
    const server = await serveModules(root);
    try {
      const { client } = server.environments;
      const secret = join(root, ".env");
      const text = "VE9LRU49MQ=="; // What it holds, in base64.
      const kinds = ["tool", "iife", "esm", "bytes", "metered", "metered-url"];
      const requests = [
        ...kinds.flatMap((kind) => [`/.env?keyhole-${kind}`, `/@fs${secret}?keyhole-${kind}`]),
        "/.env?import&keyhole-bytes",
        `/@id/keyhole:${secret}?bytes`,
        // As the server's middleware passes it on.
        `keyhole:${secret}?bytes`,
        `keyhole:./.env?bytes`,
        `/@id/KEYHOLE:${secret}?bytes`,
        ...["/@id/__x00__", "/@id/\0", "\0"].flatMap((start) => [
          `${start}keyhole-all:.*:${root}/main.ts:`,
          `${start}keyhole-bytes:${secret}:`,
        ]),
        "/tool.ts?keyhole-bytes",
      ];
      // Also after the page's own imports.
      for (const _ of ["before", "after"]) {
        for (const url of requests) {
          const served = await client.transformRequest(url).catch(() => null);
          expect(served?.code ?? "", url).not.toContain(text);
          expect(served?.code ?? "", url).not.toMatch(/Uint8Array|toolHash|\.env/);
        }
        await client.transformRequest("/main.ts");
        expect((await client.transformRequest("/tool.ts?keyhole-tool"))?.code).toContain("served");
      }
    } finally {
      await server.close();
    }
  });

  it("packs anew when any bundled file changes, for page and server alike, and after an error is repaired", async () => {
    const root = program({
      "main.ts": importTool,
      "tool.ts": `import { word } from "./word.ts";\n${toolText("dev", "() => word")}`,
      "word.ts": 'export const word = "first";',
    });
    const server = await serveModules(root);
    const ssr = server.environments.ssr;
    if (!isRunnableDevEnvironment(ssr)) throw new Error("the server has no runner");
    try {
      const page = async () => (await server.environments.client.transformRequest("/tool.ts?keyhole-tool"))!.code;
      const hashInRunner = async () =>
        ((await ssr.runner.import("/main.ts")) as { default: { hash: string; code: string } }).default;
      const change = async (text: string) => {
        const file = join(root, "word.ts");
        writeFileSync(file, text);
        for (const environment of Object.values(server.environments))
          await environment.pluginContainer.watchChange(file, { event: "update" });
        for (const environment of Object.values(server.environments)) environment.moduleGraph.onFileChange(file);
        for (const environment of Object.values(server.environments)) environment.moduleGraph.invalidateAll();
        ssr.runner.clearCache();
      };

      const before = await hashInRunner();
      expect(await page()).toContain("first");
      expect(before.code).toContain("first");

      await change('export const word = "second";');
      expect(await page()).toContain("second");
      const after = await hashInRunner();
      expect(after.code).toContain("second");
      expect(after.hash).not.toBe(before.hash);

      await change("export const word = ;");
      await expect(page()).rejects.toThrow(/tool\.ts cannot be imported/);
      await change('export const word = "third";');
      expect(await page()).toContain("third");
    } finally {
      await server.close();
    }
  });

  it("watches what a tool is made of, as a dependency of its module", async () => {
    const root = program({
      "main.ts": importTool,
      "tool.ts": `import { word } from "./word.ts";\n${toolText("dev", "() => word")}`,
      "word.ts": 'export const word = "first";',
    });
    const server = await serveModules(root);
    try {
      for (const url of ["/main.ts", "/tool.ts?keyhole-tool"]) await server.environments.client.transformRequest(url);
      const [word] = server.environments.client.moduleGraph.getModulesByFile(join(root, "word.ts")) ?? [];
      expect([...(word?.importers ?? [])].map(({ url }) => url)).toEqual(["/tool.ts?keyhole-tool"]);
    } finally {
      await server.close();
    }
  });
});
