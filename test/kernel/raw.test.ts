import type { JsonValue } from "@keyhole/kernel";
import { normalizers } from "@keyhole/kernel/normalizers";
import { describe, expect, it } from "vitest";
import { openKernel, toolOf } from "../support/kernel.ts";

const reversed = {
  name: "reversed",
  version: "1.0.0",
  normalize: (output: JsonValue | Uint8Array) => (Array.isArray(output) ? output.toReversed() : output),
};

async function rawOf(output: unknown, more: Record<string, unknown>, options: { readonly raw?: boolean }) {
  const { kernel } = await openKernel({ normalizers: normalizers([reversed]) });
  kernel.registerTrusted(toolOf(() => output, more));
  const result = await kernel.call("subject", {}, options);
  if (!result.ok) throw new Error(result.error.message);
  return "raw" in result ? { raw: result.raw } : {};
}

const text = { output: { kind: "text" } };
const custom = { normalization: { custom: "reversed" } };

describe("the output before its normalizer", () => {
  it.each<[string, unknown, Record<string, unknown>, object]>([
    ["a text with other line ends", "a\r\nb", text, { raw: "a\r\nb" }],
    ["a text in another Unicode form", "e\u0301", text, { raw: "e\u0301" }],
    ["a text in its normal form", "a\nb", text, {}],
    ["JSON with its keys in another order", { b: 1, a: 2 }, {}, {}],
    ["bytes", Uint8Array.of(1), { output: { kind: "binary" } }, {}],
    ["JSON that a custom normalizer changes", ["b", "a"], custom, { raw: ["b", "a"] }],
    ["JSON that a custom normalizer leaves", ["a"], custom, {}],
    ["a text that a custom normalizer leaves, with other line ends", "a\r\n", { ...text, ...custom }, { raw: "a\r\n" }],
    ["bytes that a custom normalizer leaves", Uint8Array.of(1), { output: { kind: "binary" }, ...custom }, {}],
  ])("is in the result on request, where it differs: %s", async (_, output, more, expected) => {
    expect(await rawOf(output, more, { raw: true })).toEqual(expected);
    expect(await rawOf(output, more, { raw: false })).toEqual({});
    expect(await rawOf(output, more, {})).toEqual({});
  });

  it("is not in a result that an idempotency key gives again", async () => {
    const { kernel } = await openKernel();
    kernel.registerTrusted(toolOf(() => "a\r\n", text));
    const call = () => kernel.call("subject", {}, { raw: true, idempotencyKey: "k" });
    expect(await call()).toMatchObject({ data: "a\n", raw: "a\r\n", meta: { cached: false } });
    const again = await call();
    expect(again).toMatchObject({ data: "a\n", meta: { cached: true } });
    expect(again).not.toHaveProperty("raw");
  });

  it("is no option of another type", async () => {
    const { kernel } = await openKernel();
    kernel.registerTrusted(toolOf(() => 1));
    expect(await kernel.call("subject", {}, { raw: 1 as never })).toMatchObject({ error: { code: "INVALID_INPUT" } });
  });
});
