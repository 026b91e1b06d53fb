import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { ViteDevServer } from "vite";
import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { program, removePrograms, serveModules, toolText } from "./program.ts";

afterAll(removePrograms);

const header = [0, 0x61, 0x73, 0x6d, 1, 0, 0, 0];
const quickly = { interval: 5, timeout: 10_000 };

describe("a dev server makes a module anew", () => {
  let root: string;
  let server: ViteDevServer;
  beforeEach(async () => {
    root = program({
      "main.ts":
        'import tool from "keyhole:./tool.ts"; import url from "keyhole:./m.wasm?metered-url"; export default [tool, url];',
      "package.json": '{ "name": "app", "imports": { "#number": "./one.ts" } }',
      "tool.ts": `import { word } from "./word"; import number from "#number";\n${toolText("made", "() => word + number")}`,
      "word.js": 'export const word = "plain";',
      "one.ts": 'export default "one";',
      "two.ts": 'export default "two";',
      "m.wasm": new Uint8Array(header),
    });
    server = await serveModules(root);
  });
  afterEach(() => server.close());

  /** The module after the page asked for it, which it does again when it loads again. */
  const load = async (url: string): Promise<string> => {
    const { client } = server.environments;
    await client.transformRequest("/main.ts");
    return (await client.transformRequest(url))!.code;
  };
  const tool = "/tool.ts?keyhole-tool";

  it("when a file appears that comes before one of its own", async () => {
    expect(await load(tool)).toContain("plain");
    writeFileSync(join(root, "word.ts"), 'export const word = "typed";');
    server.watcher.emit("add", join(root, "word.ts"));
    await vi.waitFor(async () => expect(await load(tool)).toContain("typed"), quickly);
    rmSync(join(root, "word.ts"));
    server.watcher.emit("unlink", join(root, "word.ts"));
    await vi.waitFor(async () => expect(await load(tool)).toContain("plain"), quickly);
  });

  it("when a package.json leads an import elsewhere", async () => {
    expect(await load(tool)).toContain("one");
    writeFileSync(join(root, "package.json"), '{ "name": "app", "imports": { "#number": "./two.ts" } }');
    server.watcher.emit("change", join(root, "package.json"));
    await vi.waitFor(async () => expect(await load(tool)).toContain("two"), quickly);
  });

  it.each([
    ["appears", "add", /"\.\/word" cannot be found/],
    ["changes", "change", /Unexpected/],
  ])("when a file %s without which it failed, and tells the page", async (_, event, reason) => {
    if (event === "add") rmSync(join(root, "word.js"));
    else writeFileSync(join(root, "word.js"), "export const word = ;");
    await expect(load(tool)).rejects.toThrow(reason);
    const sent: string[] = [];
    server.environments.client.hot.send = (payload: unknown) => void sent.push((payload as { type: string }).type);
    writeFileSync(join(root, "word.js"), 'export const word = "repaired";');
    server.watcher.emit(event, join(root, "word.js"));
    await vi.waitFor(() => expect(sent).toContain("full-reload"), quickly);
    expect(await load(tool)).toContain("repaired");
  });

  it("when a metered module changes", async () => {
    const url = "/m.wasm?keyhole-metered-url";
    const before = await load(url);
    // One type more.
    writeFileSync(join(root, "m.wasm"), new Uint8Array([...header, 1, 4, 1, 0x60, 0, 0]));
    server.watcher.emit("change", join(root, "m.wasm"));
    await vi.waitFor(async () => expect(await load(url)).not.toBe(before), quickly);
  });
});
