import fc from "fast-check";
import { runInNewContext } from "node:vm";
import { describe, expect, it } from "vitest";
import { blake3, blake3Hash, canonicalJson, normalize } from "../../packages/kernel/src/index.ts";
import { hex } from "./vectors.shared.ts";

const hashOf = (bytes: Uint8Array): string => `blake3:${hex(blake3(bytes))}`;
const refused = (kind: "json" | "text" | "binary", value: unknown): unknown => {
  const normal = normalize(kind, value, blake3Hash);
  return normal.ok ? "accepted" : [normal.error.reason, normal.error.path];
};

describe("json", () => {
  it("is canonical text, measured in bytes", () => {
    const value = { b: "ä€", a: [-0] };
    const text = canonicalJson(value);
    const bytes = new TextEncoder().encode(text);
    expect(normalize("json", value, blake3Hash)).toEqual({
      ok: true,
      text,
      hash: hashOf(bytes),
      byteLength: bytes.length,
    });
  });

  it("is refused with its place", () => {
    expect(refused("json", { a: [new Date(0)] })).toEqual(["not-plain", "/a/0"]);
  });
});

describe("text", () => {
  it.each([
    ["a\r\nb", "a\nb"],
    ["a\rb", "a\nb"],
    ["\r\r\n\n\r", "\n\n\n\n"],
    ["e\u0301", "\u00e9"],
    ["\u212b", "\u00c5"],
    ["\u1100\u1161", "\uac00"],
    ["\ufb01", "\ufb01"],
    ["a\u2028b\u0085", "a\u2028b\u0085"],
    ["\ufeffa", "\ufeffa"],
    ["", ""],
  ])("%j becomes %j", (text, expected) => {
    const bytes = new TextEncoder().encode(expected);
    expect(normalize("text", text, blake3Hash)).toEqual({
      ok: true,
      text: expected,
      hash: hashOf(bytes),
      byteLength: bytes.length,
    });
  });

  it("stays as it is when it is brought into form again", () => {
    const unit = fc.oneof(fc.integer({ min: 0, max: 0xffff }), fc.constantFrom(10, 13, 0x300, 0x301, 0x1100, 0x1161));
    const anyText = fc.array(unit, { maxLength: 40 }).map((units) => String.fromCharCode(...units));
    const property = fc.property(anyText, (text) => {
      const once = normalize("text", text, blake3Hash);
      expect(once.ok).toBe(text.isWellFormed());
      if (once.ok) expect(normalize("text", once.text, blake3Hash)).toEqual(once);
    });
    fc.assert(property);
  });

  it("is a string with UTF-8", () => {
    expect(refused("text", "a\ud800")).toEqual(["lone-surrogate", ""]);
    for (const value of [1, null, undefined, ["a"], Object("a"), { toString: () => "a" }])
      expect(refused("text", value)).toEqual(["not-text", ""]);
  });
});

describe("binary", () => {
  it("is a copy of the bytes", () => {
    const bytes = Uint8Array.of(0, 255, 13, 10);
    const normal = normalize("binary", bytes, blake3Hash);
    expect(normal).toEqual({ ok: true, bytes, hash: hashOf(bytes), byteLength: 4 });
    bytes.fill(7);
    expect(normal).toMatchObject({ bytes: Uint8Array.of(0, 255, 13, 10) });
  });

  it("is taken from any realm, subclass, offset and shared memory", () => {
    const shared = new Uint8Array(new SharedArrayBuffer(2));
    shared.set([1, 2]);
    const values = [
      Buffer.from([1, 2]),
      Uint8Array.of(0, 1, 2, 3).subarray(1, 3),
      shared,
      runInNewContext("Uint8Array.of(1, 2)"),
    ];
    for (const value of values) {
      const normal = normalize("binary", value, blake3Hash);
      expect(normal).toEqual({
        ok: true,
        bytes: Uint8Array.of(1, 2),
        hash: hashOf(Uint8Array.of(1, 2)),
        byteLength: 2,
      });
      expect(normal.ok && Object.getPrototypeOf(normal.bytes)).toBe(Uint8Array.prototype);
    }
  });

  it("reads the memory, not what a subclass says about it", () => {
    class Liar extends Uint8Array {
      override get length(): number {
        throw new Error("ran");
      }
      override [Symbol.iterator](): ArrayIterator<number> {
        throw new Error("ran");
      }
      override get [Symbol.toStringTag](): "Uint8Array" {
        throw new Error("ran");
      }
    }
    expect(normalize("binary", new Liar([1, 2]), blake3Hash)).toMatchObject({
      bytes: Uint8Array.of(1, 2),
      byteLength: 2,
    });
  });

  it("is nothing else", () => {
    const others = [
      [1, 2],
      "ab",
      new ArrayBuffer(2),
      new Uint16Array(2),
      new DataView(new ArrayBuffer(2)),
      { length: 0, [Symbol.toStringTag]: "Uint8Array" },
      Object.create(Uint8Array.prototype),
      new Proxy(new Uint8Array(1), {}),
      null,
      undefined,
    ];
    for (const value of others) expect(refused("binary", value)).toEqual(["not-bytes", ""]);
  });

  it("has no bytes any more when its buffer was transferred", () => {
    const bytes = new Uint8Array(4);
    structuredClone(bytes, { transfer: [bytes.buffer] });
    expect(refused("binary", bytes)).toEqual(["detached", ""]);
  });
});
