import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { placeOf } from "../../packages/kernel/src/surface/context/find-bytes.ts";

// A model chooses the text that `read_result` looks for. The search reads each byte of the kept output once, whatever the text is. The tests count looks, and no time.

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);

/** Counts every look at a byte. */
function watched(bytes: Uint8Array) {
  let looks = 0;
  const content = new Proxy(bytes, {
    get(own, key) {
      if (typeof key === "string" && /^\d+$/.test(key)) looks++;
      return Reflect.get(own, key, own) as unknown;
    },
  });
  return { content, looks: () => looks };
}

describe("a text to find in a kept output", () => {
  it.each([
    ["a".repeat(999) + "b", "a".repeat(20_000)],
    ["b" + "a".repeat(999), "a".repeat(20_000)],
    ["ab".repeat(400) + "c", "ab".repeat(10_000)],
    [`${"a".repeat(500)}b${"a".repeat(498)}`, "a".repeat(20_000)],
  ])("%.8s… that is nearly everywhere costs one look a byte", (text, output) => {
    const { content, looks } = watched(bytesOf(output));
    expect(placeOf(content, bytesOf(text), 0)).toBeUndefined();
    expect(looks()).toBeLessThanOrEqual(output.length);
  });

  it("is found where it stands, with one look a byte, at and after any offset", () => {
    const letters = fc.string({ unit: fc.constantFrom("a", "b", "ä", "🚲"), maxLength: 60 });
    const few = fc.string({ unit: fc.constantFrom("a", "b", "ä"), minLength: 1, maxLength: 8 });
    fc.assert(
      fc.property(letters, few, fc.nat(80), (output, text, from) => {
        const { content, looks } = watched(bytesOf(output));
        const place = Buffer.from(output).indexOf(Buffer.from(text), from);
        const expected = from >= content.length || place < 0 ? undefined : place;
        expect(placeOf(content, bytesOf(text), from)).toBe(expected);
        expect(looks()).toBeLessThanOrEqual(bytesOf(output).length);
      }),
    );
  });
});
