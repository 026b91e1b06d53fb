import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { blake3, blake3DeriveKey, blake3Keyed, createHasher } from "../../packages/kernel/src/index.ts";
import { hasSuites, needsSuites, readSuite } from "./suites.ts";
import { blake3Input, hex } from "./vectors.shared.ts";

interface Blake3Suite {
  readonly key: string;
  readonly context_string: string;
  readonly cases: readonly { input_len: number; hash: string; keyed_hash: string; derive_key: string }[];
}

const suite: Blake3Suite = hasSuites
  ? JSON.parse(readSuite("blake3", "test_vectors.json"))
  : { key: "", context_string: "", cases: [] };
const key = new TextEncoder().encode(suite.key);
const context = suite.context_string;

describe.skipIf(!hasSuites)(`official BLAKE3 vectors ${needsSuites}`, () => {
  it("are all there", () => expect(suite.cases).toHaveLength(35));

  it.each(suite.cases)("$input_len bytes", ({ input_len, hash, keyed_hash, derive_key }) => {
    const input = blake3Input(input_len);
    const outBytes = hash.length / 2;
    expect(hex(blake3(input, outBytes))).toBe(hash);
    expect(hex(blake3Keyed(key, input, outBytes))).toBe(keyed_hash);
    expect(hex(blake3DeriveKey(context, input, outBytes))).toBe(derive_key);
    const modes = [
      [{ kind: "hash" }, hash],
      [{ kind: "keyed", key }, keyed_hash],
      [{ kind: "derive-key", context }, derive_key],
    ] as const;
    for (const [mode, expected] of modes) {
      const hasher = createHasher(mode);
      for (let at = 0; at < input.length; at += 777) hasher.update(input.subarray(at, at + 777));
      expect(hex(hasher.digest(outBytes))).toBe(expected);
    }
  });
});

describe("BLAKE3", () => {
  it("gives the same hash for the same bytes, however they arrive", () => {
    const sizes = fc.array(fc.oneof(fc.nat(200), fc.constantFrom(0, 63, 64, 65, 1023, 1024, 1025, 2048, 3000)), {
      maxLength: 8,
    });
    fc.assert(
      fc.property(sizes, (parts) => {
        const hasher = createHasher();
        const input = blake3Input(parts.reduce((sum, part) => sum + part, 0));
        let at = 0;
        for (const part of parts) {
          hasher.update(input.subarray(at, at + part));
          at += part;
          expect(hasher.digest()).toEqual(blake3(input.subarray(0, at)));
        }
      }),
    );
  });

  it("extends its output: a shorter one begins a longer one", () => {
    const input = blake3Input(2000);
    const long = blake3(input, 300);
    for (const outBytes of [0, 1, 3, 31, 32, 33, 63, 64, 65, 127, 128, 129, 300]) {
      expect(blake3(input, outBytes)).toEqual(long.subarray(0, outBytes));
      expect(createHasher().update(input).digest(outBytes)).toEqual(long.subarray(0, outBytes));
    }
  });

  it("keeps hashers apart, and apart from one-shot hashes", () => {
    const [a, b] = [createHasher(), createHasher()];
    const input = blake3Input(5000);
    for (let at = 0; at < 5000; at += 500) {
      a.update(input.subarray(at, at + 500));
      b.update(input.subarray(4500 - at, 5000 - at));
      blake3(input.subarray(0, at));
    }
    expect(a.digest()).toEqual(blake3(input));
    expect(b.digest()).not.toEqual(a.digest());
  });

  it("has read the bytes when update returns", () => {
    const input = blake3Input(1500);
    const hasher = createHasher().update(input);
    input.fill(0);
    expect(hasher.digest()).toEqual(blake3(blake3Input(1500)));
  });

  it("reads bytes at any offset of their buffer, and leaves them alone", () => {
    const buffer = blake3Input(300);
    const before = hex(buffer);
    for (const at of [0, 1, 2, 3, 7])
      expect(blake3(buffer.subarray(at, at + 200))).toEqual(blake3(buffer.slice(at, at + 200)));
    expect(hex(buffer)).toBe(before);
  });

  it("takes keys of 32 bytes only", () => {
    for (const length of [0, 31, 33, 64]) {
      const wrong = new Uint8Array(length);
      expect(() => blake3Keyed(wrong, key)).toThrow(TypeError);
      expect(() => createHasher({ kind: "keyed", key: wrong })).toThrow(TypeError);
    }
    expect(blake3Keyed(blake3Input(40).subarray(3, 35), key)).toEqual(blake3Keyed(blake3Input(40).slice(3, 35), key));
  });
});
