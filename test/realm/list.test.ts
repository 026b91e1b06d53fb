import { expect, it } from "vitest";
import { differences, readList, withRealm, writeList } from "./list.ts";

const text = "Array:\n  CF     at  concat\n  C      from\nError{}:\n  F      fileName\n";

it("reads the list that it writes", () => {
  expect(writeList(readList(text))).toBe(text);
});

it("names a property that an engine has anew, one that it lost, and one without a reason", () => {
  const found = new Set(["Array | at", "Array | from", "Array | flat", "Navigator | userAgent"]);
  expect(differences(readList(text), "C", found)).toEqual([
    "Array | concat: is in the list, and not in the realm",
    "Array | flat: is not in the list",
    "Navigator | userAgent: has no reason in reasons.ts",
    "Navigator | userAgent: is not in the list",
  ]);
});

it("takes what one realm has, and leaves the others", () => {
  expect(writeList(withRealm(readList(text), "F", new Set(["Array | at", "Array | flat"])))).toBe(
    "Array:\n  CF     at\n  C      concat  from\n  F      flat\n",
  );
});
