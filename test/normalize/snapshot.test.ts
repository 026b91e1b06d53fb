import fc from "fast-check";
import { runInNewContext } from "node:vm";
import { describe, expect, it } from "vitest";
import { canonicalTextOf } from "../../packages/kernel/src/normalize/canonical-json.ts";
import { canonicalJson, parseJson, snapshot, type SnapshotLimits } from "../../packages/kernel/src/normalize/index.ts";
import { snapshotInOrder, type Taken, takeJson } from "../../packages/kernel/src/normalize/snapshot.ts";

const taken = (value: unknown, limits?: SnapshotLimits): unknown => {
  const result = snapshot(value, limits);
  return result.ok ? result.value : [result.error.reason, result.error.path];
};
const parsed = (text: string, limits?: SnapshotLimits): unknown => {
  const result = parseJson(text, limits);
  return result.ok ? result.value : [result.error.reason, result.error.path];
};
const json = fc
  .jsonValue({ stringUnit: "grapheme", maxDepth: 6 })
  .filter((value) => !JSON.stringify(value).includes("__proto__"));

describe("a snapshot", () => {
  it("equals plain data, shares nothing with it, and is equal when taken again", () => {
    const property = fc.property(json, (value) => {
      const positive: unknown = JSON.parse(JSON.stringify(value));
      const copy = taken(value);
      expect(copy).toEqual(positive);
      expect(JSON.stringify(copy)).toBe(JSON.stringify(positive));
      expect(taken(copy)).toEqual(copy);
      if (typeof copy === "object" && copy !== null) expect(copy).not.toBe(value);
    });
    fc.assert(property);
  });

  it("is an ordinary object of this realm, whatever came", () => {
    for (const value of [
      Object.assign(Object.create(null), { a: [1] }),
      runInNewContext("({ a: [1] })"),
      Object.freeze({ a: [1] }),
    ]) {
      const copy = taken(value) as { a: number[] };
      expect(Object.getPrototypeOf(copy)).toBe(Object.prototype);
      expect(Object.getPrototypeOf(copy.a)).toBe(Array.prototype);
      expect(Object.getOwnPropertyDescriptor(copy, "a")).toEqual({
        value: [1],
        writable: true,
        enumerable: true,
        configurable: true,
      });
    }
  });

  it("leaves out what is not enumerable or undefined, and keeps the order of keys", () => {
    const value = { z: 1, gone: undefined, a: 2, [1]: 3 };
    Object.defineProperty(value, "hidden", { value: 1, enumerable: false });
    expect(JSON.stringify(taken(value))).toBe('{"1":3,"z":1,"a":2}');
  });

  it("has no negative zero", () => {
    expect(taken([-0, { a: -0 }])).toEqual([0, { a: 0 }]);
    expect(taken(-0)).toBe(0);
    expect(parsed('[-0, {"a": -0.0}]')).toEqual([0, { a: 0 }]);
    expect(parsed("-0")).toBe(0);
  });

  it("takes keys that objects inherit, also where their prototype is frozen or has setters", () => {
    const value = { constructor: 1, toString: "x", hasOwnProperty: null, valueOf: { a: 1 } };
    expect(Object.entries(taken(value) as object)).toEqual(Object.entries(value));
    const polluted = runInNewContext(
      `Object.defineProperty(Object.prototype, "trapped", { set() { throw new Error("setter ran"); }, configurable: true });
       Object.freeze(Object.prototype);
       ({ trapped: 1, toString: 2 })`,
    );
    expect(taken(polluted)).toEqual({ trapped: 1, toString: 2 });
    const home: object = Object.prototype;
    Reflect.defineProperty(home, "trapped", {
      set() {
        throw new Error("setter ran");
      },
      configurable: true,
    });
    try {
      expect(Object.keys(taken(polluted) as object)).toEqual(["trapped", "toString"]);
    } finally {
      Reflect.deleteProperty(home, "trapped");
    }
  });

  it("counts a shared reference as often as it is there", () => {
    const shared = { a: 1 };
    const copy = taken([shared, shared]) as object[];
    expect(copy).toEqual([{ a: 1 }, { a: 1 }]);
    expect(copy[0]).not.toBe(copy[1]);
    expect(taken([shared, shared], { maxNodes: 5 })).toEqual([{ a: 1 }, { a: 1 }]);
    expect(taken([shared, shared], { maxNodes: 4 })).toEqual(["too-large", "/1/a"]);
  });
});

describe("what was taken", () => {
  const textOf = (result: Taken): string => (result.ok ? canonicalTextOf(result) : result.error.message);
  /** Keys that engines order in their own way, in all mixtures, and more of them than are sorted by hand. */
  const keys = fc.oneof(
    fc.string(),
    fc.constantFrom("0", "2", "10", "01", "-1", "a", "A", "\u{1f600}", "\ufb33", "\u20ac"),
  );
  const { tree } = fc.letrec((tie) => ({
    tree: fc.oneof(
      { depthSize: "small" },
      fc.constantFrom(1, -0, 1e21, true, null, "", 'a"b\\', "\u2028"),
      fc.array(tie("tree"), { maxLength: 4 }),
      fc.dictionary(keys, tie("tree"), { maxKeys: 40 }),
    ),
  }));

  it("has the canonical text that canonicalization gives, copied or parsed", () => {
    fc.assert(
      fc.property(tree, (value) => {
        const text = JSON.stringify(value);
        fc.pre(!text.includes("__proto__"));
        expect(textOf(snapshotInOrder(value, {}))).toBe(canonicalJson(JSON.parse(text)));
        expect(textOf(takeJson(text, {}))).toBe(canonicalJson(JSON.parse(text)));
      }),
    );
  });

  it("equals a snapshot", () => {
    fc.assert(
      fc.property(tree, (value) => {
        fc.pre(!JSON.stringify(value).includes("__proto__")); // Of two refusals, each meets another one first.
        const result = snapshotInOrder(value, {});
        expect(result.ok ? result.value : result.error).toEqual(taken(value));
      }),
    );
  });

  it("needs no canonicalization where the keys are in order, and gets it where they are not", () => {
    expect(takeJson('{"a":{"b":1,"c":[{"d":1}]}}', {})).toMatchObject({ isOrdered: true });
    expect(takeJson('{"a":{"c":1,"b":2}}', {})).toMatchObject({ isOrdered: false });
    expect(takeJson('{"10":1,"9":2}', {})).toMatchObject({ isOrdered: false });
    expect(snapshotInOrder({ c: 1, b: { z: 1, a: 2 } }, {})).toMatchObject({ isOrdered: true });
    expect(snapshotInOrder({ c: 1, 9: 1, 10: 1 }, {})).toMatchObject({ isOrdered: false });
  });

  it("is not written by an engine that was taught to write otherwise", () => {
    const home: object = Object.prototype;
    Reflect.defineProperty(home, "toJSON", { value: () => "forged", configurable: true });
    try {
      expect(textOf(snapshotInOrder({ b: 1, a: [2] }, {}))).toBe('{"a":[2],"b":1}');
      expect(textOf(takeJson('{"a":[2],"b":1}', {}))).toBe('{"a":[2],"b":1}');
    } finally {
      Reflect.deleteProperty(home, "toJSON");
    }
  });

  it("refuses a symbol wherever a proxy puts it among the keys", () => {
    const symbol = Symbol("s");
    for (const order of [
      ["b", symbol, "a"],
      [symbol, "a", "b"],
      ["b", "a", symbol],
    ]) {
      const value = new Proxy({ a: 1, b: 2, [symbol]: 3 }, { ownKeys: () => order });
      expect(snapshotInOrder(value, {})).toMatchObject({ ok: false, error: { reason: "symbol", path: "" } });
    }
  });
});

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
