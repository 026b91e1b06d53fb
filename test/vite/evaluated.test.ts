import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { build, createServer, type Plugin, type ViteDevServer } from "vite";
import { afterAll, afterEach, beforeEach, describe, expect, it } from "vitest";
import { config, program, removePrograms, toolText } from "./program.ts";

/* No program evaluates the source of a tool: the module of an import holds text. */

afterAll(removePrograms);

const bare =
  'globalThis.evaluated = true; export default { definition: { name: "installed", version: "1.0.0", description: "Under test.", input: { type: "object" }, output: { kind: "text" } }, code: { execute: () => "" } };\n';

describe("a tool in an installed package", () => {
  let server: ViteDevServer;
  beforeEach(async () => {
    const root = join(program({}), "app");
    for (const [path, text] of Object.entries({
      "main.ts": 'import tool from "keyhole:pay/tools/pay"; export default tool;',
      "node_modules/pay/package.json":
        '{ "name": "pay", "version": "1.0.0", "type": "module", "exports": { "./tools/*": "./tools/*.js" } }',
      "node_modules/pay/tools/pay.js": bare,
    })) {
      mkdirSync(dirname(join(root, path)), { recursive: true });
      writeFileSync(join(root, path), text);
    }
    // With the optimizer, which bundles the dependencies of a page.
    server = await createServer({ ...config(root), server: { middlewareMode: true, ws: false, watch: null } });
  });
  afterEach(() => server.close());

  it("is served as its package", async () => {
    const { client } = server.environments;
    const main = (await client.transformRequest("/main.ts"))!.code;
    const [, url = ""] = /from "([^"]*)"|import "([^"]*)"/.exec(main) ?? [];
    expect(url).toBe("/node_modules/pay/tools/pay.js?keyhole-tool");
    expect((await client.transformRequest(url))!.code).toMatch(
      /^export default .*JSON\.parse\(".*globalThis\.evaluated=!0/,
    );
  });
});

describe("a module that another plugin loads", () => {
  const reader: Plugin = {
    name: "reader",
    enforce: "pre",
    load: (id) => (id.includes("tool.ts") ? "globalThis.evaluated = true; export default 1;" : null),
  };

  it("fails", async () => {
    const root = program({
      "main.ts": 'import tool from "keyhole:./tool.ts"; export default tool;',
      "tool.ts": toolText("read"),
    });
    const { plugins = [], ...rest } = config(root);
    const lib = { entry: "main.ts", formats: ["es"] } satisfies { entry: string; formats: ["es"] };
    const building = build({ ...rest, plugins: [reader, ...plugins], build: { write: false, lib } });
    await expect(building).rejects.toThrow(/keyhole:tool\.ts cannot be imported: another plugin loads it/);
  });

  it("may be of the plugin a second time", async () => {
    const root = program({
      "main.ts": 'import tool from "keyhole:./tool.ts"; export default tool;',
      "tool.ts": toolText("twice"),
    });
    const { plugins = [], ...rest } = config(root);
    const lib = { entry: "main.ts", formats: ["es"] } satisfies { entry: string; formats: ["es"] };
    await build({ ...rest, plugins: [plugins, config(root).plugins], build: { write: false, lib } });
  });
});
