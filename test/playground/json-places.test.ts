import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { lineAt, placesOf, pointerAt } from "../../packages/playground/src/form/json-places.ts";
import { placedText } from "../../packages/playground/src/form/JsonEditor.tsx";

const at = (root: unknown, pointer: string): unknown =>
  pointer
    .split("/")
    .slice(1)
    .map((token) => token.replaceAll("~1", "/").replaceAll("~0", "~"))
    .reduce<unknown>((value, token) => (value as Record<string, unknown>)[token], root);

describe("the places of a JSON text", () => {
  it("are those of its values, for any JSON that is written in any way", () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.constantFrom(0, 2), (value, indent) => {
        const text = JSON.stringify(value, undefined, indent);
        const { places, stop } = placesOf(text);
        expect(stop).toBeUndefined();
        for (const { pointer, start, end } of places) {
          // A member's place begins with its name.
          const written = text.slice(start, end).replace(/^"(?:[^"\\]|\\.)*"\s*:/, "");
          expect(JSON.parse(written)).toEqual(at(JSON.parse(text), pointer));
        }
      }),
    );
  });

  it("tell the value at the caret", () => {
    const text = '{\n  "a": [1, { "b/c": true }]\n}';
    const places = placesOf(text);
    expect(pointerAt(places, text.indexOf("true") + 2)).toBe("/a/1/b~1c");
    expect(pointerAt(places, text.indexOf('"a"'))).toBe("/a");
    expect(pointerAt(places, 0)).toBe("");
  });

  it.for<[string, string]>([
    ['{\n  "a": 1\n  "b": 2\n}', 'Line 3: expected a comma or }, got "\\"".'],
    ['{ "a" 1 }', 'Line 1: expected a colon, got "1".'],
    ["[1,", "Line 1: expected a value, got the end."],
    ["{ a: 1 }", 'Line 1: expected a name in quotation marks or }, got "a".'],
  ])("name the line and what is missing: %s", ([text, message]) => {
    expect(placedText(text, placesOf(text))).toBe(message);
  });

  it("end without an overflow in a text that is too deep or too long", () => {
    expect(placesOf("[".repeat(100_000)).places.length).toBeLessThan(1_000);
    expect(placesOf(JSON.stringify(Array.from({ length: 10_000 }, () => 1))).places.length).toBeLessThanOrEqual(5_000);
  });

  it("count lines", () => {
    expect([0, 1, 2, 3].map((offset) => lineAt("a\nb\n", offset))).toEqual([1, 1, 2, 2]);
  });
});
