import { jsonPlaces, jsonTextFault } from "@keyhole/kernel/foreign";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { JsonScan } from "../../packages/kernel/src/json/json-scan.ts";

const whole = '{ "a": [1, -2.5e3, true, null, { "b\\u00e9": "x\\n" }],\n "c": {}, "d": [] }';

const isJson = (text: string): boolean => {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
};

/** Whether a scan reads the text to its end. */
const isWhole = (text: string): boolean => jsonTextFault(text)?.reason !== "syntax";

describe("a scan of a JSON text", () => {
  it("stops wherever a character is missing, doubled or another one, and nowhere else", () => {
    for (let at = 0; at < whole.length; at++)
      for (const other of ["", whole.charAt(at).repeat(2), "}", "]", ",", ":", '"', "\\", "\n", "0", "é"]) {
        const text = whole.slice(0, at) + other + whole.slice(at + 1);
        expect(jsonPlaces(text).stop === undefined, text).toBe(isJson(text));
      }
  });

  it("takes what JSON.parse takes", () => {
    const signs = fc.string({ unit: fc.constantFrom(...'{}[]",:\\ \n0-1.eEtrufalsn\u0007') });
    fc.assert(
      fc.property(signs, (text) => {
        expect(jsonPlaces(text).stop === undefined).toBe(isJson(text));
      }),
    );
  });

  it("tells each name and value with its place, and a name that its object had", () => {
    const text = '{"a":[1,{}],"a":"b"}';
    const scan = new JsonScan(text);
    const steps: unknown[] = [];
    while (scan.next()) steps.push([scan.step, scan.path.join("."), text.slice(scan.start, scan.end), scan.isRepeated]);
    expect(steps).toEqual([
      ["open", "", "{", false],
      ["name", "a", '"a"', false],
      ["open", "a", "[", false],
      ["scalar", "a.0", "1", false],
      ["open", "a.1", "{", false],
      ["close", "a.1", "}", false],
      ["close", "a", "]", false],
      ["name", "a", '"a"', true],
      ["scalar", "a", '"b"', true],
      ["close", "", "}", true],
    ]);
    expect(scan.stop).toBeUndefined();
  });

  it("has no places for a text that exceeds its limits", () => {
    const limits = { maxDepth: 2, maxNodes: 3, maxMembers: 1 };
    expect(jsonPlaces('[{"a":1}]', limits).places).toHaveLength(3);
    for (const text of ["[[[1]]]", "[1,1,1,1]", '[{"a":1,"b":1}]']) expect(jsonPlaces(text, limits).places).toEqual([]);
  });

  it("reads numbers and strings of millions of characters", () => {
    const long = "1".repeat(20_000_000);
    for (const text of [long, `1.${long}`, `1e${long}`, `"${long}"`]) expect(isWhole(text)).toBe(true);
  });
});
