import fc from "fast-check";
import { expect, it } from "vitest";
import { differencesOf } from "../../packages/kernel/src/foreign-tools/difference.ts";

it("differences show each change whole, in however long a text and at however many places", () => {
  const long = "Names have letters, digits and dashes. ".repeat(40);
  fc.assert(
    fc.property(fc.string({ unit: "grapheme", minLength: 1, maxLength: 20 }), fc.nat(long.length), (added, at) => {
      const change = `<IMPORTANT>${added}</IMPORTANT>`;
      const seen = `${long.slice(0, at)}${change}${long.slice(at)}`;
      const [difference, ...others] = differencesOf({ description: long }, { description: seen });
      expect(others).toEqual([]);
      expect(difference?.seen?.length).toBeLessThan(600);
      // One end of the change can be equal to its neighbours.
      expect(difference?.seen).toContain("<IMPORTANT>");
      expect(difference?.seen).toContain("</IMPORTANT>");
      expect(difference?.seen).not.toBe(difference?.pinned);
    }),
  );
  const places = (text: string) => Object.fromEntries(Array.from({ length: 150 }, (_, at) => [`a${at}`, text]));
  expect(differencesOf(places("x"), places("y"))).toHaveLength(150);
});

it("a definition without a pinned one is shown whole", () => {
  const description = "d".repeat(5_000);
  expect(differencesOf({}, { description })).toEqual([
    { path: "/description", pinned: undefined, seen: JSON.stringify(description) },
  ]);
});
