import { describe, expect, it } from "vitest";
import { openKernel, toolOf } from "../support/kernel.ts";
import { registered } from "../support/registered.ts";

describe("a package", () => {
  it.each([
    ["an object without toString", Object.create(null) as object],
    [
      "an object whose toString throws",
      {
        toString: () => {
          throw new Error("again");
        },
      },
    ],
    ["a symbol", Symbol("s")],
  ])("with a manifest that throws %s is refused", async (_, thrown) => {
    const { kernel } = await openKernel();
    const foreign = {
      get manifest(): never {
        throw thrown;
      },
    };
    expect(kernel.register(foreign as never)).toMatchObject({ ok: false, error: { code: "INVALID_MANIFEST" } });
  });
});

describe("an output contract", () => {
  it.each(["text", "binary"])("of kind %s with a schema, which nothing would check, is refused", async (kind) => {
    const { kernel } = await openKernel();
    const tool = toolOf(() => "much too long", { output: { kind, schema: { type: "string", maxLength: 3 } } });
    expect(kernel.registerTrusted(tool)).toMatchObject({
      ok: false,
      error: { code: "INVALID_MANIFEST", path: "/output/schema" },
    });
  });

  it.each([
    ["json", true, "/output/transfer"],
    ["text", true, "/output/transfer"],
    ["stream", false, "/output/transfer"],
    ["binary", "yes", "/output/transfer"],
  ])("of kind %s with transfer %s is refused", async (kind, transfer, path) => {
    const { kernel } = await openKernel();
    const tool = toolOf(() => new Uint8Array(), { output: { kind, transfer } });
    expect(kernel.registerTrusted(tool)).toMatchObject({ ok: false, error: { code: "INVALID_MANIFEST", path } });
  });

  it("changes the tool's hash with its transfer option", () => {
    const hashes = [{}, { transfer: false }, { transfer: true }].map(
      (more) => registered(toolOf(() => new Uint8Array(), { output: { kind: "binary", ...more } })).hash,
    );
    expect(new Set(hashes).size).toBe(3);
  });
});
