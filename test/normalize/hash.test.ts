import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  blake3,
  canonicalJson,
  hashBytes,
  hashJson,
  hashText,
  isDigest,
  type JsonValue,
} from "../../packages/kernel/src/index.ts";
import { hex } from "./vectors.shared.ts";

const utf8 = (text: string): Uint8Array<ArrayBuffer> => new TextEncoder().encode(text);

describe("digests", () => {
  it("are BLAKE3 of UTF-8, printed", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme", maxLength: 300 }), (text) => {
        expect(hashText(text)).toBe(`blake3:${hex(blake3(utf8(text)))}`);
        expect(hashBytes(utf8(text))).toBe(hashText(text));
      }),
    );
  });

  it("do not depend on whether a text fits the short way", () => {
    for (const units of [5460, 5461, 5462, 16_384, 70_000]) {
      for (const unit of ["a", "€", "ä"]) {
        expect(hashText(unit.repeat(units))).toBe(`blake3:${hex(blake3(utf8(unit.repeat(units))))}`);
      }
    }
  });

  it("of JSON are those of its canonical text", () => {
    fc.assert(
      fc.property(fc.jsonValue({ stringUnit: "grapheme" }), (value) => {
        expect(hashJson(value as JsonValue)).toBe(hashText(canonicalJson(value as JsonValue)));
      }),
    );
  });

  it("of a text without UTF-8 do not exist", () => {
    expect(() => hashText("a\ud800")).toThrow(TypeError);
    expect(() => hashText(`${"a".repeat(70_000)}\udc00`)).toThrow(TypeError);
    expect(hashText("\ufffd")).toMatch(/^blake3:/);
  });

  it("are known by their form", () => {
    const digest = hashText("");
    expect(isDigest(digest)).toBe(true);
    expect(isDigest(digest.replace("blake3", "sha256"))).toBe(true);
    for (const wrong of [
      digest.slice(0, -1),
      `${digest}0`,
      digest.toUpperCase(),
      `${digest}\n`,
      digest.replace("blake3", "md5"),
      digest.slice(7),
      1,
      null,
      { toString: () => digest },
    ]) {
      expect(isDigest(wrong)).toBe(false);
    }
  });
});
