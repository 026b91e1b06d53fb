import fc from "fast-check";
import { createHash } from "node:crypto";
import { blake3Hash } from "@keyhole/kernel";
import { sha256Hash } from "@keyhole/kernel/sha256";
import { describe, expect, it } from "vitest";
import { joined } from "../support/streams.ts";

const reference = (bytes: Uint8Array | string): string => `sha256:${createHash("sha256").update(bytes).digest("hex")}`;

describe("SHA-256", () => {
  it("is that of the platform at every length around its blocks", () => {
    for (let length = 0; length <= 300; length++) {
      const bytes = Uint8Array.from({ length }, (_, i) => (i * 7 + length) % 256);
      expect(sha256Hash.bytes(bytes), `${length} bytes`).toBe(reference(bytes));
    }
  });

  it("is that of the platform for any bytes, any text and any JSON", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 2_000 }), (bytes) => {
        expect(sha256Hash.bytes(bytes)).toBe(reference(bytes));
      }),
    );
    fc.assert(
      fc.property(fc.string({ unit: "grapheme", maxLength: 300 }), (text) => {
        expect(sha256Hash.measure(text)).toEqual({ hash: reference(text), byteLength: Buffer.byteLength(text) });
      }),
    );
    expect(sha256Hash.json({ b: 1, a: [-0] })).toBe(reference('{"a":[0],"b":1}'));
    expect(sha256Hash.text("a€".repeat(30_000))).toBe(reference("a€".repeat(30_000)));
  });

  it("is the same of bytes in parts, also while others are hashed", () => {
    const parts = fc.array(fc.uint8Array({ maxLength: 200 }), { maxLength: 8 });
    fc.assert(
      fc.property(parts, parts, (one, other) => {
        for (const hash of [sha256Hash, blake3Hash]) {
          const hashers = [hash.hasher(), hash.hasher()] as const;
          for (let i = 0; i < Math.max(one.length, other.length); i++) {
            hashers[0].update(one[i] ?? new Uint8Array());
            expect(hashers[0].digest()).toBe(hash.bytes(joined(one.slice(0, i + 1))));
            hashers[1].update(other[i] ?? new Uint8Array());
          }
          expect(hashers.map((hasher) => hasher.digest())).toEqual([
            hash.bytes(joined(one)),
            hash.bytes(joined(other)),
          ]);
        }
      }),
    );
  });

  it("leaves nothing of one text in the next", () => {
    const first = sha256Hash.text("a".repeat(200));
    sha256Hash.text("b".repeat(63));
    expect(sha256Hash.text("a".repeat(200))).toBe(first);
  });

  it("of a text without UTF-8 does not exist", () => {
    expect(() => sha256Hash.text("a\ud800")).toThrow(TypeError);
  });
});
