import { canonicalJson, type JsonValue } from "@keyhole/kernel";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { firstDifference } from "../../packages/kernel/src/replay/difference.ts";

describe("the first difference of two values", () => {
  it.each<[string, JsonValue | undefined, JsonValue | undefined, readonly [string, string, string]]>([
    ["two numbers", 1, 2, ["", "1", "2"]],
    ["another kind", [], {}, ["", "[]", "{}"]],
    ["something and null", null, {}, ["", "null", "{}"]],
    ["a member", { a: [1, { b: 2 }] }, { a: [1, { b: 3 }] }, ["/a/1/b", "2", "3"]],
    ["a member less", { a: 1, b: 2 }, { a: 1 }, ["/b", "2", "nothing"]],
    ["a member more", { a: 1 }, { a: 1, b: 2 }, ["/b", "nothing", "2"]],
    ["an item more", [1], [1, 2], ["/1", "nothing", "2"]],
    ["a name with signs", { "a/b~": 1 }, { "a/b~": 2 }, ["/a~1b~0", "1", "2"]],
    ["a name of Object.prototype", {}, { constructor: 1 }, ["/constructor", "nothing", "1"]],
    ["nothing at all", undefined, 1, ["", "nothing", "1"]],
    ["short texts", "abc", "abd", ["", '"abc"', '"abd"']],
    ["a long value", 1, "x".repeat(100), ["", "1", `"${"x".repeat(79)}…`]],
    [
      "long texts",
      `${"a".repeat(200)}b`,
      `${"a".repeat(200)}c`,
      ["", `…"${"a".repeat(20)}b"`, `…"${"a".repeat(20)}c"`],
    ],
  ])("%s", (_, expected, actual, [path, before, after]) => {
    expect(firstDifference(expected, actual)).toEqual({ path, expected: before, actual: after });
  });

  it("is there exactly when they are not equal", () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (left, right) => {
        const [a, b] = [left, right] as [JsonValue, JsonValue];
        expect(firstDifference(a, structuredClone(a))).toBeUndefined();
        expect(firstDifference(a, b) === undefined).toBe(canonicalJson(a) === canonicalJson(b));
      }),
    );
  });
});
