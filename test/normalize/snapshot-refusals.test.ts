import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseJson } from "../../packages/kernel/src/index.ts";
import { taken, parsed } from "./taken.ts";

describe("limits", () => {
  const nest = (depth: number): unknown => JSON.parse("[".repeat(depth) + "]".repeat(depth));
  const objects = (depth: number): unknown => (depth === 0 ? 1 : { a: objects(depth - 1) });

  it("bound the depth", () => {
    expect(taken(nest(64))).toEqual(nest(64));
    expect(taken(nest(65))).toEqual(["too-deep", "/0".repeat(64)]);
    expect(taken(objects(64))).toEqual(objects(64));
    expect(taken(objects(65))).toEqual(["too-deep", "/a".repeat(64)]);
    expect(taken(objects(2), { maxDepth: 2 })).toEqual({ a: { a: 1 } });
    expect(taken(objects(3), { maxDepth: 2 })).toEqual(["too-deep", "/a/a"]);
    expect(parsed(JSON.stringify(nest(64)))).toEqual(nest(64));
    expect(parsed(JSON.stringify(nest(65)))).toEqual(["too-deep", "/0".repeat(64)]);
    expect(taken(nest(10_000))).toEqual(["too-deep", "/0".repeat(64)]);
  });

  it("bound the number of values", () => {
    expect(taken([1, 2, 3], { maxNodes: 4 })).toEqual([1, 2, 3]);
    expect(taken([1, 2, 3], { maxNodes: 3 })).toEqual(["too-large", ""]);
    expect(taken({ a: 1, b: 2 }, { maxNodes: 3 })).toEqual({ a: 1, b: 2 });
    expect(taken({ a: 1, b: 2 }, { maxNodes: 2 })).toEqual(["too-large", "/b"]);
    expect(parsed("[1,2,3]", { maxNodes: 4 })).toEqual([1, 2, 3]);
    expect(parsed("[1,2,3]", { maxNodes: 3 })).toEqual(["too-large", "/2"]);
  });

  it("bound all keys and strings together", () => {
    const value = { ab: "cd", e: ["f"] };
    expect(taken(value, { maxStringUnits: 6 })).toEqual(value);
    expect(taken(value, { maxStringUnits: 5 })).toEqual(["too-large", "/e/0"]);
    expect(taken(value, { maxStringUnits: 4 })).toEqual(["too-large", "/e"]);
    expect(taken("abc", { maxStringUnits: 3 })).toBe("abc");
    expect(taken("abcd", { maxStringUnits: 3 })).toEqual(["too-large", ""]);
    expect(parsed('{"ab":"cd","e":["f"]}', { maxStringUnits: 6 })).toEqual(value);
    expect(parsed('{"ab":"cd","e":["f"]}', { maxStringUnits: 5 })).toEqual(["too-large", "/e/0"]);
  });
});

describe("refusals", () => {
  const cycle: unknown[] = [];
  cycle.push({ a: [1, cycle] });

  it.each<[string, unknown, string, string]>([
    [
      "a getter",
      {
        a: {
          get b() {
            return 1;
          },
        },
      },
      "accessor",
      "/a/b",
    ],
    ["a setter", { set b(_: unknown) {} }, "accessor", "/b"],
    ["a getter in an array", Object.defineProperty([0, 1], 1, { get: () => 1, enumerable: true }), "accessor", "/1"],
    ["undefined", undefined, "undefined", ""],
    ["undefined in an array", { a: [1, undefined] }, "undefined", "/a/1"],
    // oxlint-disable-next-line no-sparse-arrays
    ["a hole", [1, , 2], "undefined", "/1"],
    ["nothing but holes", Object.assign([], { length: 3 }), "undefined", "/0"],
    ["more holes than values are allowed", [Object.assign([], { length: 4_294_967_295 })], "too-large", "/0"],
    ["another key of an array", Object.assign([1], { extra: 1 }), "not-plain", ""],
    ["the result of a match", /a/.exec("a"), "not-plain", ""],
    ["a symbol key", { a: { [Symbol("s")]: 1 } }, "symbol", "/a"],
    ["a symbol key of an array", Object.assign([1], { [Symbol("s")]: 1 }), "not-plain", ""],
    ["an own __proto__", { a: JSON.parse('{"__proto__":{"x":1}}') }, "proto-key", "/a/__proto__"],
    ["a cycle", cycle, "cycle", "/0/a/1"],
    ["NaN", { a: NaN }, "not-finite", "/a"],
    ["Infinity", [-Infinity], "not-finite", "/0"],
    ["a BigInt", [[1n]], "bigint", "/0/0"],
    ["a function", () => 1, "function", ""],
    ["a constructor", { a: Map }, "function", "/a"],
    ["a symbol", [Symbol("s")], "symbol", "/0"],
    ["a lone surrogate", { a: "\ud800" }, "lone-surrogate", "/a"],
    ["a lone surrogate in a key", { a: { "\udc00": 1 } }, "lone-surrogate", "/a/\ufffd"],
    ...[
      new Date(0),
      new Map(),
      new Set(),
      new WeakMap(),
      /x/,
      new Error("e"),
      Promise.resolve(),
      new Uint8Array(1),
      new ArrayBuffer(1),
      new URL("a:b"),
      Object("s"),
      Object(1),
      Object(1n),
      new (class A {
        a = 1;
      })(),
      new (class B extends Array {})(),
      Object.create({ a: 1 }),
      Object.create([]),
    ].map((value): [string, unknown, string, string] => [
      `an instance of ${value.constructor.name}`,
      { value },
      "not-plain",
      "/value",
    ]),
  ])("%s", (_, value, reason, path) => {
    expect(taken(value)).toEqual([reason, path]);
  });

  it.each<[string, string, string]>([
    ["", "syntax", ""],
    ["{", "syntax", ""],
    ["[1,]", "syntax", ""],
    ["NaN", "syntax", ""],
    ['{"a": 1} x', "syntax", ""],
    ["\ufeff{}", "syntax", ""],
    ['{"a": {"__proto__": null}}', "proto-key", "/a/__proto__"],
    ['["\\ud800"]', "lone-surrogate", "/0"],
    ['{"\\udc00": 1}', "lone-surrogate", "/\ufffd"],
    ["[1, 1e400]", "not-finite", "/1"],
    ['{"a~/": [-1e400]}', "not-finite", "/a~0~1/0"],
  ])("of the text %j", (text, reason, path) => {
    expect(parsed(text)).toEqual([reason, path]);
  });

  it("parse what JSON.parse parses, and nothing else", () => {
    const text = fc.oneof(
      fc.json({ stringUnit: "grapheme" }),
      fc.string(),
      fc.json().map((valid) => valid.slice(1)),
    );
    const property = fc.property(text, (candidate) => {
      let expected: unknown;
      try {
        expected = JSON.parse(candidate);
      } catch {
        expect(parsed(candidate)).toEqual(["syntax", ""]);
        return;
      }
      const result = parseJson(candidate);
      if (result.ok) expect(JSON.stringify(result.value)).toBe(JSON.stringify(expected));
      else expect(result.error.reason).toMatch(/^(?:proto-key|not-finite|lone-surrogate|too-deep)$/);
    });
    fc.assert(property);
  });
});
