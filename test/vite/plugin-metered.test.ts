import { join } from "node:path";
import { builtEngine, readMeterSection } from "@keyhole/worker-host/wasm";
import { build, type Rolldown } from "vite";
import { afterAll, describe, expect, it } from "vitest";
import { config, program, removePrograms } from "./program.ts";

afterAll(removePrograms);

describe("a metered module", () => {
  const importing = (query: string) => ({
    "main.ts": `import quickJs from "keyhole:quickjs-wasi/quickjs.wasm?${query}"; export default quickJs;`,
    "not.wasm": "text",
  });
  /** Of a build in the way of Workers, or of pages: every file, by name. */
  const outputOf = async (files: Record<string, string>, conditions: string[]) => {
    const root = program(files);
    const result = (await build({
      ...config(root),
      ...(conditions.length > 0 && { ssr: { resolve: { conditions }, noExternal: true } }),
      build: {
        write: false,
        minify: false,
        ...(conditions.length > 0 && { ssr: "main.ts" }),
        rolldownOptions: {
          input: join(root, "main.ts"),
          preserveEntrySignatures: "strict",
          output: { entryFileNames: "chunks/main.js" },
        },
      },
    })) as Rolldown.RolldownOutput;
    return new Map(result.output.map((file) => [file.fileName, file.type === "chunk" ? file.code : file.source]));
  };

  it("is a module of its own beside a Worker, which imports it by name", async () => {
    const output = await outputOf(importing("metered"), ["workerd"]);
    const [name] = [...output.keys()].filter((each) => each.endsWith(".wasm"));
    expect(output.get("chunks/main.js")).toContain(`from "../${name}"`);
    const engine = builtEngine(new WebAssembly.Module(output.get(name!) as Uint8Array<ArrayBuffer>));
    expect(engine.names.fuel).toBe("keyhole.fuel");
  });

  it("has an address in a page", async () => {
    const output = await outputOf(importing("metered-url"), []);
    const [name] = [...output.keys()].filter((each) => each.endsWith(".wasm"));
    expect(output.get("chunks/main.js")).toContain(name);
    expect(readMeterSection(new WebAssembly.Module(output.get(name!) as Uint8Array<ArrayBuffer>))).toBeDefined();
  });

  it.each([
    [
      "outside of Workers",
      importing("metered"),
      /quickjs\.wasm\?metered cannot be imported: its environment has no condition "workerd"/,
    ],
    [
      "when it is no module",
      { ...importing("metered"), "main.ts": 'import x from "keyhole:./not.wasm?metered-url"; export default x;' },
      /not\.wasm\?metered-url cannot be imported: This is not a WebAssembly module/,
    ],
  ])("fails the build %s", async (_, files, reason) => {
    await expect(outputOf(files, [])).rejects.toThrow(reason);
  });
});
