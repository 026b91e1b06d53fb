import { describe, expect, it } from "vitest";
import { openKernel, toolOf } from "../support/kernel.ts";
import { registered } from "../support/registered.ts";

describe("an output contract", () => {
  it.each(["text", "binary"])("with a schema for %s, which nothing would check, is refused", async (kind) => {
    const { kernel } = await openKernel();
    const tool = toolOf(() => "much too long", { output: { kind, schema: { type: "string", maxLength: 3 } } });
    expect(kernel.register(tool)).toMatchObject({
      ok: false,
      error: { code: "INVALID_MANIFEST", path: "/output/schema" },
    });
  });

  it.each([
    ["json", true, "/output/transfer"],
    ["text", true, "/output/transfer"],
    ["stream", false, "/output/transfer"],
    ["binary", "yes", "/output/transfer"],
  ])("of kind %s that hands nothing over (%s) is refused", async (kind, transfer, path) => {
    const { kernel } = await openKernel();
    const tool = toolOf(() => new Uint8Array(), { output: { kind, transfer } });
    expect(kernel.register(tool)).toMatchObject({ ok: false, error: { code: "INVALID_MANIFEST", path } });
  });

  it("says in the tool's hash whether bytes are handed over", () => {
    const hashes = [{}, { transfer: false }, { transfer: true }].map(
      (more) => registered(toolOf(() => new Uint8Array(), { output: { kind: "binary", ...more } })).hash,
    );
    expect(new Set(hashes).size).toBe(3);
  });
});
