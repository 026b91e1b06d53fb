import { readMeterSection } from "@keyhole/worker-host/wasm";
import { describe, expect, it } from "vitest";
import { runCommand } from "../../packages/keyhole/src/command/run-command.ts";
import { filesOf, ioOf, ioWith, typed } from "../support/command-files.ts";
import { modules } from "../wasm/tools.ts";

const unknownImport = Buffer.from("0061736d01000000010401600000020d0103656e760561626f72740000", "hex");

describe("keyhole meter", () => {
  const run = (file: unknown, options: Record<string, unknown> = {}) =>
    runCommand(["meter", "x.wasm", ...typed(options)], ioOf({ "x.wasm": file }));

  it("says what becomes of a module, and of what use it is", async () => {
    const command = await run(modules.exits);
    expect(command.exitCode).toBe(0);
    expect(command.output).toMatch(
      /^✓ x\.wasm: 1 functions, \d+ bytes, metered \d+ \(\d\.\d\d ×\)\n {2}blake3:[0-9a-f]{64}\n/,
    );
    expect(command.output).toContain("✓ it can be a tool, or a command");
    expect((await run(modules.plain)).output).toMatch(/✓ it can be a tool\n$/);
  });

  it.each([
    ["no module", "text", /^✗ x\.wasm: INVALID_MODULE: /],
    ["nothing", "", /^✗ x\.wasm: INVALID_MODULE: /],
    ["an import that nobody offers", unknownImport, /✗ it cannot be a tool: UNKNOWN_IMPORT: .*env/],
    [
      "no exports",
      Buffer.from("0061736d01000000", "hex"),
      /✗ it cannot be a tool: The module does not export its memory/,
    ],
  ])("says what is wrong with a file: %s", async (_, file, output) => {
    expect(await run(file)).toMatchObject({ exitCode: 1, output: expect.stringMatching(output) as string });
  });

  it("gives its report as JSON", async () => {
    const report: unknown = JSON.parse((await run(modules.exits, { json: true })).output);
    expect(report).toMatchObject({
      ok: true,
      functions: 1,
      originalBytes: modules.exits.length,
      use: "tool or command",
    });
    expect(JSON.parse((await run("text", { json: true })).output)).toMatchObject({ ok: false, code: "INVALID_MODULE" });
  });

  it("writes the metered module where it is told to", async () => {
    const written = new Map<string, Uint8Array<ArrayBuffer>>();
    const files = {
      ...filesOf({ "x.wasm": modules.exits }),
      write: async (path: string, bytes: Uint8Array<ArrayBuffer>) => void written.set(path, bytes),
    };
    await runCommand(["meter", "x.wasm", "--out", "y.wasm"], ioWith(files));
    expect(readMeterSection(new WebAssembly.Module(written.get("y.wasm")!))?.originalHash).toMatch(/^blake3:/);
  });

  it("says that it could not write", async () => {
    expect(await run(modules.exits, { out: "y.wasm" })).toEqual({
      exitCode: 2,
      output: "",
      errorOutput: "y.wasm cannot be written: EACCES: y.wasm\n",
    });
  });

  it("cannot be found out for a file that is not there", async () => {
    expect(await runCommand(["meter", "none.wasm"], ioOf({}))).toMatchObject({ exitCode: 2 });
  });
});
