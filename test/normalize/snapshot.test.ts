import fc from "fast-check";
import { runInNewContext } from "node:vm";
import { describe, expect, it } from "vitest";
import { canonicalTextOf } from "../../packages/kernel/src/json/canonical-json.ts";
import { canonicalJson } from "../../packages/kernel/src/index.ts";
import { snapshotInOrder, type Taken, takeJson } from "../../packages/kernel/src/json/snapshot.ts";
import { taken, parsed } from "./taken.ts";

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
