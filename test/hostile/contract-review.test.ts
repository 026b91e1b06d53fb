import { describe, expect, it } from "vitest";
import { openKernel, toolOf } from "../support/kernel.ts";

describe("an output contract", () => {
  it.each(["text", "binary"])("with a schema for %s, which nothing would check, is refused", async (kind) => {
    const { kernel } = await openKernel();
    const tool = toolOf(() => "much too long", { output: { kind, schema: { type: "string", maxLength: 3 } } });
    expect(kernel.register(tool)).toMatchObject({
      ok: false,
      error: { code: "INVALID_MANIFEST", path: "/output/schema" },
    });
  });
});
