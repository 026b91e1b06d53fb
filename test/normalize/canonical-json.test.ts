import fc from "fast-check";
import { runInNewContext } from "node:vm";
import { describe, expect, it } from "vitest";
import { canonicalize, canonicalJson } from "../../packages/kernel/src/index.ts";
import { sized } from "../support/size.ts";
import { hasSuites, needsSuites, readSuite } from "./suites.ts";

const textOf = (value: unknown): string => {
  const result = canonicalize(value);
  if (!result.ok) throw new Error(result.error.message);
  return result.text;
};
const refusal = (value: unknown, maxDepth?: number): unknown => {
  const result = canonicalize(value, maxDepth);
  return result.ok ? result.text : [result.error.reason, result.error.path];
};

/** Slow, and plainly RFC 8785. */
function reference(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(reference).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const units = (key: string): number[] => Array.from({ length: key.length }, (_, i) => key.charCodeAt(i));
  const entries = Object.entries(value).sort(([a], [b]) => {
    const [as, bs] = [units(a), units(b)];
    const at = as.findIndex((unit, i) => unit !== bs[i]);
    return at === -1 ? as.length - bs.length : as[at]! - (bs[at] ?? -1);
  });
  return `{${entries.map(([key, field]) => `${JSON.stringify(key)}:${reference(field)}`).join(",")}}`;
}

const wellFormed = fc.string({ unit: "grapheme" });
const json = fc.jsonValue({ stringUnit: "grapheme", maxDepth: 6 });

describe.skipIf(!hasSuites)(`RFC 8785 pairs ${needsSuites}`, () => {
  it.each(["arrays", "french", "structures", "unicode", "values", "weird"])("%s", (name) => {
    const text = textOf(JSON.parse(readSuite("jcs", "testdata", "input", `${name}.json`)));
    const bytes = readSuite("jcs", "testdata", "outhex", `${name}.txt`).trim().split(/\s+/);
    expect(Array.from(new TextEncoder().encode(text), (byte) => byte.toString(16).padStart(2, "0"))).toEqual(bytes);
    expect(text).toBe(readSuite("jcs", "testdata", "output", `${name}.json`));
  });
});

describe("canonical text", () => {
  it("equals a plain reference", () => {
    const same = fc.property(json, (value) => {
      expect(textOf(value)).toBe(reference(value));
    });
    fc.assert(same, { numRuns: sized(100, 500) });
  });

  it("is the same again after parsing", () => {
    const same = fc.property(json, (value) => {
      expect(textOf(JSON.parse(textOf(value)))).toBe(textOf(value));
    });
    fc.assert(same);
  });

  it("does not depend on the order of keys, whatever shapes came before", () => {
    const keys = fc.uniqueArray(fc.oneof(wellFormed, fc.nat(20).map(String)), { maxLength: 20 });
    fc.assert(
      fc.property(keys, fc.integer(), (names, seed) => {
        const shuffled = [...names].sort((a, b) => ((a.length * 7 + seed) % 5) - ((b.length * 7 + seed) % 5));
        const make = (order: string[]): object => Object.fromEntries(order.map((name) => [name, name.length]));
        expect(textOf(make(shuffled))).toBe(textOf(make(names)));
        expect(textOf(make(names))).toBe(reference(make(names)));
      }),
    );
  });

  it("tells shapes apart that look alike: same number of keys, same lengths, same first letters", () => {
    const shapes = [
      ["ab", "cd"],
      ["ac", "ce"],
      ["ad", "cc"],
      ["cb", "ad"],
      ["aa", "ca"],
    ];
    for (let round = 0; round < 3; round++) {
      for (const shape of shapes) {
        const object = Object.fromEntries(shape.map((key, i) => [key, i]));
        expect(textOf(object)).toBe(reference(object));
      }
    }
  });

  it("stays right when more shapes come than it remembers", () => {
    for (let round = 0; round < 2; round++) {
      for (let i = 0; i < 1500; i++) expect(textOf({ [`z${i}`]: 1, [`a${i}`]: 2 })).toBe(`{"a${i}":2,"z${i}":1}`);
    }
  });

  it("equals the reference behind more shapes than are worth a class each, and in wide objects", () => {
    const shapes = Array.from({ length: 100 }, (_, i) => ({
      [`z${i}`]: i * 1_111,
      [`a${i}`]: -i,
      n: i / 3,
      t: `é${i}`,
    }));
    const wide = Object.fromEntries(Array.from({ length: 200 }, (_, i) => [`${i * 7}"k`, i]));
    const same = fc.property(json, (value) => {
      const all = [shapes, value, { wide: { ...wide, value }, list: [value, [value]] }, "x".repeat(300), -0, 1e21];
      expect(textOf(all)).toBe(reference(all));
    });
    fc.assert(same, { numRuns: sized(30, 300) });
    for (const bad of ["\ud800", NaN, 1n]) {
      expect(refusal([shapes, { wide: { ...wide, value: [bad] } }])).toEqual([expect.any(String), "/1/wide/value/0"]);
      expect(refusal([shapes, { b: { "k\ud800": 1 } }])).toEqual(["lone-surrogate", "/1/b/k\ufffd"]);
    }
  });

  it("orders keys that engines put first by their value", () => {
    const keys = [
      "10",
      "9",
      "1",
      "0",
      "01",
      "-1",
      "1.5",
      "4294967294",
      "4294967295",
      "4294967296",
      "a",
      "",
      "!",
      "/",
      ":",
      "1a",
    ];
    for (let count = 0; count <= keys.length; count++) {
      const value = {
        list: [Object.fromEntries(keys.slice(0, count).map((key) => [key, [{ b: key, a: -0 }]]))],
        z: "é\n",
      };
      expect(textOf(value)).toBe(reference(value));
    }
  });

  it("keeps text that looks like an escaped surrogate", () => {
    const value = { "\\ud800": ["\\udfff", "\\\\ud83d\\ude00", "😀"], a: "C:\\ud" };
    expect(textOf(value)).toBe(reference(value));
    expect(refusal({ ...value, b: ["\\ud800", "\ud800"] })).toEqual(["lone-surrogate", "/b/1"]);
    expect(refusal({ ...value, b: { "1": 1, "\ud800": 1 } })).toEqual(["lone-surrogate", "/b/\ufffd"]);
  });

  it("does not depend on a toJSON that a page gave to the prototypes", () => {
    const value = { b: [1, ["2", { c: null }]], a: {} };
    const homes: object[] = [Object.prototype, Array.prototype, String.prototype, Number.prototype];
    for (const home of homes) {
      Reflect.defineProperty(home, "toJSON", { value: () => "forged", configurable: true });
      try {
        expect(textOf(value)).toBe('{"a":{},"b":[1,["2",{"c":null}]]}');
      } finally {
        Reflect.deleteProperty(home, "toJSON");
      }
    }
  });

  it("sorts objects of 50,000 keys", () => {
    const keys = Array.from({ length: 50_000 }, (_, i) => `k${(i * 7919) % 50_021}`);
    const make = (order: string[]): object => Object.fromEntries(order.map((key) => [key, 1]));
    expect(textOf(make(keys))).toBe(JSON.stringify(make(keys.toSorted())));
  });

  it("takes over objects of another realm and without prototype", () => {
    expect(textOf(runInNewContext("({ b: [1, { c: 2 }], a: null })"))).toBe('{"a":null,"b":[1,{"c":2}]}');
    expect(textOf(Object.assign(Object.create(null), { b: 1, a: 2 }))).toBe('{"a":2,"b":1}');
    expect(textOf(Object.freeze({ b: Object.freeze([1]) }))).toBe('{"b":[1]}');
  });

  it("leaves out properties that are undefined, as the engine's writer does", () => {
    const member = fc.oneof({ withCrossShrink: true }, fc.jsonValue(), fc.constant(undefined));
    const key = fc.constantFrom("a", "b", "c", "1", "10", "é");
    const objects = fc.dictionary(key, fc.oneof(member, fc.dictionary(key, member)));
    fc.assert(
      fc.property(objects, (value) => {
        expect(textOf(value)).toBe(textOf(JSON.parse(JSON.stringify(value))));
      }),
    );
    expect(textOf({ 1: undefined, 2: { 3: undefined, z: 1 }, é: undefined })).toBe('{"2":{"z":1}}');
  });

  it("writes an item that is undefined, or missing, as null", () => {
    // oxlint-disable-next-line no-sparse-arrays
    expect(textOf([1, , [undefined]])).toBe("[1,null,[null]]");
  });

  it("neither calls toJSON nor looks at inherited properties", () => {
    expect(textOf({ toJSON: 1 })).toBe('{"toJSON":1}');
    expect(refusal({ a: { toJSON: () => 1 } })).toEqual(["function", "/a/toJSON"]);
  });

  it("calls getters, which may call it again", () => {
    const value = {
      a: 1,
      get b() {
        return `${canonicalize([{ x: 1n }]).ok}${textOf({ d: 1, c: [2] })}`;
      },
      c: [3],
    };
    expect(textOf(value)).toBe('{"a":1,"b":"false{\\"c\\":[2],\\"d\\":1}","c":[3]}');
  });
});

describe("refusals", () => {
  const cycle: unknown[] = [];
  cycle.push({ a: [1, cycle] });
  const loop: Record<string, unknown> = {};
  loop["self"] = loop;

  it.each<[string, unknown, string, string]>([
    ["NaN", [1, NaN], "not-finite", "/1"],
    ["Infinity", { a: { b: Infinity } }, "not-finite", "/a/b"],
    ["-Infinity", -Infinity, "not-finite", ""],
    ["undefined", undefined, "undefined", ""],
    ["a BigInt", { n: 1n }, "bigint", "/n"],
    ["a symbol", [Symbol.iterator], "symbol", "/0"],
    ["a function", { f() {} }, "function", "/f"],
    ["a high surrogate", { a: "x\ud800" }, "lone-surrogate", "/a"],
    ["a low surrogate", ["\udc00x"], "lone-surrogate", "/0"],
    ["surrogates in the wrong order", ["\udc00\ud800"], "lone-surrogate", "/0"],
    ["a lone surrogate in a key", { a: { "k\ud800": 1 } }, "lone-surrogate", "/a/k\ufffd"],
    ["a Date", { at: new Date(0) }, "not-plain", "/at"],
    ["a Map", [new Map()], "not-plain", "/0"],
    ["a boxed string", Object("text"), "not-plain", ""],
    ["bytes", { bytes: new Uint8Array(2) }, "not-plain", "/bytes"],
    [
      "a class instance",
      new (class A {
        a = 1;
      })(),
      "not-plain",
      "",
    ],
    ["an array of a subclass", new (class A extends Array {})(), "not-plain", ""],
    ["an object that inherits from data", Object.create({ a: 1 }), "not-plain", ""],
    ["a cycle", cycle, "cycle", "/0/a/1"],
    ["a loop", { a: { b: loop } }, "cycle", "/a/b/self"],
    ["keys that need escapes in the path", { "a/b": { "~": [{ "": NaN }] } }, "not-finite", "/a~1b/~0/0/"],
    ["the first one in canonical order", { b: NaN, a: [1n] }, "bigint", "/a/0"],
  ])("%s", (_, value, reason, path) => {
    expect(refusal(value)).toEqual([reason, path]);
  });

  it("bounds the depth at the limit, not one before", () => {
    const nest = (depth: number): unknown => JSON.parse("[".repeat(depth) + "]".repeat(depth));
    const objects = (depth: number): unknown => (depth === 0 ? 1 : { a: objects(depth - 1) });
    expect(refusal(nest(512))).toBe("[".repeat(512) + "]".repeat(512));
    expect(refusal(nest(513))).toEqual(["too-deep", "/0".repeat(512)]);
    expect(refusal(objects(3), 3)).toBe('{"a":{"a":{"a":1}}}');
    expect(refusal(objects(4), 3)).toEqual(["too-deep", "/a/a/a"]);
    expect(refusal(1, 0)).toBe("1");
    expect(refusal([], 0)).toEqual(["too-deep", ""]);
  });

  it("reports what throws when it is read", () => {
    const trap = (): never => {
      throw new Error("no");
    };
    const value = {
      a: 1,
      get b(): never {
        return trap();
      },
    };
    expect(refusal([value])).toEqual(["unreadable", "/0/b"]);
    expect(refusal([{ a: 1 }, new Proxy({}, { ownKeys: trap })])).toEqual(["unreadable", "/1"]);
    expect(refusal({ a: new Proxy([], { get: trap }) })).toEqual(["unreadable", "/a"]);
    expect(refusal({ a: new Proxy({}, { getPrototypeOf: trap }) })).toEqual(["unreadable", "/a"]);
    const { proxy, revoke } = Proxy.revocable({}, {});
    revoke();
    expect(refusal([proxy])).toEqual(["unreadable", "/0"]);
  });

  it("does not forget a refusal's place in the next one", () => {
    for (let i = 0; i < 3; i++) {
      expect(refusal({ a: [1, { b: NaN }] })).toEqual(["not-finite", "/a/1/b"]);
      expect(refusal(undefined)).toEqual(["undefined", ""]);
    }
  });

  it("gives an error that is canonical JSON itself", () => {
    const units = fc.array(fc.oneof(fc.integer({ min: 0, max: 0xffff }), fc.constantFrom(0x2f, 0x7e, 0xd800, 0xdc00)), {
      maxLength: 10,
    });
    fc.assert(
      fc.property(units, (key) => {
        const result = canonicalize({ [String.fromCharCode(...key)]: NaN });
        expect(result.ok).toBe(false);
        if (!result.ok) expect(canonicalize(result.error).ok).toBe(true);
      }),
    );
  });

  it("throws only where the caller promised JSON", () => {
    expect(canonicalJson({ b: 1, a: [true] })).toBe('{"a":[true],"b":1}');
    expect(() => canonicalJson([NaN])).toThrow(new TypeError('not-finite at "/0"'));
  });
});
