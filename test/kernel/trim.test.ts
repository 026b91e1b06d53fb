import fc from "fast-check";
import { expect, it } from "vitest";
import { trimBlanks } from "../../packages/kernel/src/support/trim.ts";
import { plainText } from "../../packages/kernel/src/policy/decision/plain-text.ts";

it("drops the characters up to U+0020 at both ends, and no other", () => {
  const piece = fc.constantFrom("\0", "\t", "\n", " ", "\u001f", "!", "a", "\u00a0", "");
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
      const text = pieces.join("");
      expect(trimBlanks(text)).toBe(text.replace(/^[\u0000-\u0020]+/, "").replace(/[\u0000-\u0020]+$/, ""));
    }),
  );
});

it("reads a text of the largest input that is blanks in its middle", () => {
  // In the square of its length this takes a day.
  const text = `1${" ".repeat(8_000_000)}1`;
  expect(plainText(text, "any")).toEqual({ key: "1 1" });
  expect(plainText(text, "path")).toEqual({ key: "1 1" });
  for (const kind of ["number", "url", "host", "file"] as const)
    expect(plainText(text, kind), kind).toHaveProperty("fault");
});
