import { describe, expect, it } from "vitest";
import { jsonPlace } from "../../packages/edge/src/app/json-place.ts";

const whole = '{ "a": [1, -2.5e3, true, null, { "b\\u00e9": "x\\n" }],\n "c": {}, "d": [] }';

const isJson = (text: string): boolean => {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
};

describe("the place where a text stops being JSON", () => {
  it("is found wherever a character is missing, doubled or another one, and nowhere else", () => {
    for (let at = 0; at < whole.length; at++)
      for (const other of ["", whole.charAt(at).repeat(2), "}", "]", ",", ":", '"', "\\", "\n", "0", "é"]) {
        const text = whole.slice(0, at) + other + whole.slice(at + 1);
        expect(jsonPlace(text).endsWith("expected the end, got the end"), text).toBe(isJson(text));
      }
  });
});
