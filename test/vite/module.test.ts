import { afterAll, describe, expect, it, vi } from "vitest";
import { modules } from "../wasm/tools.ts";
import { buildMain, program, removePrograms } from "./program.ts";

// Whole builds run here; how long they take is the machine's business.
vi.setConfig({ testTimeout: 60_000 });

afterAll(removePrograms);

const main = (query: string) => `import x from "keyhole:./x.wasm${query}"; export default x;`;
const manifest = {
  name: "x",
  version: "1.0.0",
  description: "Under test.",
  input: { type: "object" },
  output: { kind: "json" },
};

/** What a built module exports. */
async function exported(text: string): Promise<unknown> {
  return ((await import(`data:text/javascript,${encodeURIComponent(text)}`)) as { readonly default: unknown }).default;
}

describe("a module of WebAssembly", () => {
  it("is a tool with the manifest beside it", async () => {
    const files = { "main.ts": main(""), "x.wasm": modules.exits, "x.json": JSON.stringify(manifest) };
    expect(await exported(await buildMain(program(files)))).toMatchObject({
      manifest: { ...manifest, source: "wasm" },
      code: Buffer.from(modules.exits).toString("base64"),
      hash: expect.stringMatching(/^blake3:/) as string,
    });
  });

  it("is bytes for a command", async () => {
    const text = await buildMain(program({ "main.ts": main("?bytes"), "x.wasm": modules.exits }));
    expect(await exported(text)).toEqual(modules.exits);
  });

  const text = JSON.stringify(manifest);
  // (module (import "env" "abort" (func)))
  const unknownImport = Buffer.from("0061736d01000000010401600000020d0103656e760561626f72740000", "hex");
  it.each<[string, Record<string, string | Uint8Array>, RegExp]>([
    ["text in place of a module", { "x.wasm": "text", "x.json": text }, /INVALID_MODULE/],
    ["an empty file", { "x.wasm": "", "x.json": text }, /INVALID_MODULE/],
    ["half a module", { "x.wasm": modules.subject.slice(0, 5_000), "x.json": text }, /INVALID_MODULE/],
    ["an import that nobody offers", { "x.wasm": unknownImport, "x.json": text }, /UNKNOWN_IMPORT.*env.*abort/],
    ["no exports that could be called", { "x.wasm": Buffer.from("0061736d01000000", "hex"), "x.json": text }, /memory/],
    ["no manifest", { "x.wasm": modules.exits }, /x\.json/],
    ["a manifest that is no JSON", { "x.wasm": modules.exits, "x.json": "{" }, /JSON/],
    ["a manifest that is a list", { "x.wasm": modules.exits, "x.json": "[]" }, /lacks name, version/],
    [
      "a manifest without a name",
      { "x.wasm": modules.exits, "x.json": '{ "version": "1.0.0" }' },
      /lacks name, description, input, output/,
    ],
    [
      "a manifest with a schema that is none",
      { "x.wasm": modules.exits, "x.json": JSON.stringify({ ...manifest, input: { type: "thing" } }) },
      /input/,
    ],
    [
      "memory below what the module begins with",
      { "x.wasm": modules.subject, "x.json": JSON.stringify({ ...manifest, bounds: { memoryBytes: 65_536 } }) },
      /MEMORY_TOO_LARGE/,
    ],
  ])("fails the build for %s, with its name and the reason", async (_, files, reason) => {
    const building = buildMain(program({ "main.ts": main(""), ...files }));
    await expect(building).rejects.toThrow(/keyhole:x\.wasm cannot be imported: /);
    await expect(building).rejects.toThrow(reason);
  });

  it("fails the build when it is not there", async () => {
    await expect(buildMain(program({ "main.ts": main("?bytes") }))).rejects.toThrow(/x\.wasm/);
  });
});
