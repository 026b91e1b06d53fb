import { describe, expect, it } from "vitest";
import {
  blake3,
  blake3DeriveKey,
  blake3Hash,
  blake3Keyed,
  canonicalize,
  createHasher,
  hashJson,
  normalize,
  parseJson,
  snapshot,
} from "../../packages/kernel/src/index.ts";
import { sha256Hash } from "../../packages/kernel/src/hash/sha256.ts";

/** FIPS 180-4's own examples, and that of FIPS 180-2, B.3. */
const sha256Vectors: [text: string, times: number, hash: string][] = [
  ["", 1, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"],
  ["abc", 1, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"],
  [
    "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
    1,
    "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1",
  ],
  [
    "abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu",
    1,
    "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1",
  ],
  ["a", 1_000_000, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"],
];

/** JSON text, and its canonical form. */
const canonical: [string, string][] = [
  ["null", "null"],
  ["-0", "0"],
  ["[-0.0, 1.0, 1e2]", "[0,1,100]"],
  ['[56.0, {"d": true, "10": null, "1": []}]', '[56,{"1":[],"10":null,"d":true}]'],
  ['{"b": 1, "a": {"d": 1, "c": 2}}', '{"a":{"c":2,"d":1},"b":1}'],
  // By UTF-16 units: U+1F600 begins with D83D and comes before U+FB33.
  ['{"\\ufb33": 1, "\\ud83d\\ude00": 2, "\\u20ac": 3, "1": 4, "\\r": 5}', '{"\\r":5,"1":4,"€":3,"😀":2,"\ufb33":1}'],
  // Integer-like keys, which objects order by value: 9, 10, 100.
  ['{"9": 1, "10": 2, "100": 3, "": 4, "-1": 5, "01": 6}', '{"":4,"-1":5,"01":6,"10":2,"100":3,"9":1}'],
  ['{"__proto__": {"x": 1}, "constructor": 2, "toString": 3}', '{"__proto__":{"x":1},"constructor":2,"toString":3}'],
  [
    '"\\u0000\\u001f\\b\\t\\n\\f\\r\\u000b\\"\\\\\\/\\u007f\\u2028"',
    '"\\u0000\\u001f\\b\\t\\n\\f\\r\\u000b\\"\\\\/\u007f\u2028"',
  ],
  [
    "[333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001]",
    "[333333333.3333333,1e+30,4.5,0.002,1e-27]",
  ],
];

/** RFC 8785, appendix B: IEEE 754 bits, and the text. */
const numbers: [bits: string, text: string][] = [
  ["0000000000000000", "0"],
  ["8000000000000000", "0"],
  ["0000000000000001", "5e-324"],
  ["8000000000000001", "-5e-324"],
  ["7fefffffffffffff", "1.7976931348623157e+308"],
  ["ffefffffffffffff", "-1.7976931348623157e+308"],
  ["4340000000000000", "9007199254740992"],
  ["c340000000000000", "-9007199254740992"],
  ["4430000000000000", "295147905179352830000"],
  ["44b52d02c7e14af5", "9.999999999999997e+22"],
  ["44b52d02c7e14af6", "1e+23"],
  ["44b52d02c7e14af7", "1.0000000000000001e+23"],
  ["444b1ae4d6e2ef4e", "999999999999999700000"],
  ["444b1ae4d6e2ef4f", "999999999999999900000"],
  ["444b1ae4d6e2ef50", "1e+21"],
  ["3eb0c6f7a0b5ed8c", "9.999999999999997e-7"],
  ["3eb0c6f7a0b5ed8d", "0.000001"],
  ["41b3de4355555553", "333333333.3333332"],
  ["41b3de4355555554", "333333333.33333325"],
  ["41b3de4355555555", "333333333.3333333"],
  ["41b3de4355555556", "333333333.3333334"],
  ["41b3de4355555557", "333333333.33333343"],
  ["becbf647612f3696", "-0.0000033333333333333333"],
  ["43143ff3c1cb0959", "1424953923781206.2"],
];

/** Official: length of the input (bytes 0 to 250, again and again), then hash, keyed hash and derived key, 32 bytes each. */
const blake3Vectors: [number, string, string, string][] = [
  [
    0,
    "af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262",
    "92b2b75604ed3c761f9d6f62392c8a9227ad0ea3f09573e783f1498a4ed60d26",
    "2cc39783c223154fea8dfb7c1b1660f2ac2dcbd1c1de8277b0b0dd39b7e50d7d",
  ],
  [
    1,
    "2d3adedff11b61f14c886e35afa036736dcd87a74d27b5c1510225d0f592e213",
    "6d7878dfff2f485635d39013278ae14f1454b8c0a3a2d34bc1ab38228a80c95b",
    "b3e2e340a117a499c6cf2398a19ee0d29cca2bb7404c73063382693bf66cb06c",
  ],
  [
    63,
    "e9bc37a594daad83be9470df7f7b3798297c3d834ce80ba85d6e207627b7db7b",
    "bb1eb5d4afa793c1ebdd9fb08def6c36d10096986ae0cfe148cd101170ce37ae",
    "b6451e30b953c206e34644c6803724e9d2725e0893039cfc49584f991f451af3",
  ],
  [
    64,
    "4eed7141ea4a5cd4b788606bd23f46e212af9cacebacdc7d1f4c6dc7f2511b98",
    "ba8ced36f327700d213f120b1a207a3b8c04330528586f414d09f2f7d9ccb7e6",
    "a5c4a7053fa86b64746d4bb688d06ad1f02a18fce9afd3e818fefaa7126bf73e",
  ],
  [
    65,
    "de1e5fa0be70df6d2be8fffd0e99ceaa8eb6e8c93a63f2d8d1c30ecb6b263dee",
    "c0a4edefa2d2accb9277c371ac12fcdbb52988a86edc54f0716e1591b4326e72",
    "51fd05c3c1cfbc8ed67d139ad76f5cf8236cd2acd26627a30c104dfd9d3ff8a8",
  ],
  [
    1023,
    "10108970eeda3eb932baac1428c7a2163b0e924c9a9e25b35bba72b28f70bd11",
    "c951ecdf03288d0fcc96ee3413563d8a6d3589547f2c2fb36d9786470f1b9d6e",
    "74a16c1c3d44368a86e1ca6df64be6a2f64cce8f09220787450722d85725dea5",
  ],
  [
    1024,
    "42214739f095a406f3fc83deb889744ac00df831c10daa55189b5d121c855af7",
    "75c46f6f3d9eb4f55ecaaee480db732e6c2105546f1e675003687c31719c7ba4",
    "7356cd7720d5b66b6d0697eb3177d9f8d73a4a5c5e968896eb6a689684302706",
  ],
  [
    1025,
    "d00278ae47eb27b34faecf67b4fe263f82d5412916c1ffd97c8cb7fb814b8444",
    "357dc55de0c7e382c900fd6e320acc04146be01db6a8ce7210b7189bd664ea69",
    "effaa245f065fbf82ac186839a249707c3bddf6d3fdda22d1b95a3c970379bcb",
  ],
  [
    3073,
    "7124b49501012f81cc7f11ca069ec9226cecb8a2c850cfe644e327d22d3e1cd3",
    "68dede9bef00ba89e43f31a6825f4cf433389fedae75c04ee9f0cf16a427c95a",
    "72613c9ec9ff7e40f8f5c173784c532ad852e827dba2bf85b2ab4b76f7079081",
  ],
  [
    8193,
    "bab6c09cb8ce8cf459261398d2e7aef35700bf488116ceb94a36d0f5f1b7bc3b",
    "954a2a75420c8d6547e3ba5b98d963e6fa6491addc8c023189cc519821b4a1f5",
    "af1e0346e389b17c23200270a64aa4e1ead98c61695d917de7d5b00491c9b0f1",
  ],
];
const blake3Key = new TextEncoder().encode("whats the Elvish word for friend");
const blake3Context = "BLAKE3 2019-12-27 16:29:52 test vectors context";

export const hex = (bytes: Uint8Array): string =>
  Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");

export const blake3Input = (length: number): Uint8Array => Uint8Array.from({ length }, (_, i) => i % 251);

export function numberOf(bits: string): number {
  const view = new DataView(new ArrayBuffer(8));
  view.setBigUint64(0, BigInt(`0x${bits}`));
  return view.getFloat64(0);
}

/** What has to come out the same on every engine. */
export function describeVectors(): void {
  it.each(canonical)("canonical JSON of %s", (text, expected) => {
    expect(canonicalize(JSON.parse(text))).toEqual({ ok: true, text: expected });
  });

  it.each(numbers)("number with bits %s is %s", (bits, expected) => {
    expect(canonicalize(numberOf(bits))).toEqual({ ok: true, text: expected });
  });

  it.each(blake3Vectors)("BLAKE3 of %i bytes", (length, hash, keyed, derived) => {
    const input = blake3Input(length);
    expect(hex(blake3(input))).toBe(hash);
    expect(hex(blake3Keyed(blake3Key, input))).toBe(keyed);
    expect(hex(blake3DeriveKey(blake3Context, input))).toBe(derived);
    expect(hex(createHasher().update(input.subarray(0, 700)).update(input.subarray(700)).digest())).toBe(hash);
  });

  it("hashes JSON by its data", () => {
    const expected = "blake3:1f2c468a5910c6ced8bba037a530ef7471b8b6154ea352492a135e81055c44ce";
    expect(hashJson({ b: 1, a: [-0] })).toBe(expected);
    expect(hashJson({ a: [0], b: 1 })).toBe(expected);
  });

  it.each(sha256Vectors)("SHA-256 of %j, %i times", (text, times, hash) => {
    expect(sha256Hash.text(text.repeat(times))).toBe(`sha256:${hash}`);
    expect(sha256Hash.bytes(new TextEncoder().encode(text.repeat(times)))).toBe(`sha256:${hash}`);
  });

  it("brings text into one form", () => {
    const normal = normalize("text", "cafe\u0301\r\nA\u030a\rend", blake3Hash);
    expect(normal).toMatchObject({ ok: true, text: "café\nÅ\nend", byteLength: 12 });
    expect(normal).toMatchObject({ hash: `blake3:${hex(blake3(new TextEncoder().encode("café\nÅ\nend")))}` });
  });

  describe("too deep for any stack", () => {
    const depth = 100_000;
    let deep: unknown = [];
    for (let i = 0; i < depth; i++) deep = i % 2 === 0 ? [deep] : { a: deep };

    it("is refused, not a crash", () => {
      expect(canonicalize(deep)).toMatchObject({ ok: false, error: { reason: "too-deep" } });
      expect(snapshot(deep)).toMatchObject({ ok: false, error: { reason: "too-deep" } });
      expect(parseJson("[".repeat(depth) + "]".repeat(depth))).toMatchObject({
        ok: false,
        error: { reason: "too-deep" },
      });
    });

    it("is refused, not a crash, where the caller allows it", () => {
      const fine = { ok: false, error: { reason: expect.stringMatching(/^(?:too-deep|unreadable)$/) } };
      expect(canonicalize(deep, Infinity)).toMatchObject(fine);
      expect(snapshot(deep, { maxDepth: Infinity })).toMatchObject(fine);
    });
  });
}
