import { blake3Room, blake3Words, createHasher } from "./blake3.ts";
import { canonicalize, canonicalJson } from "./canonical-json.ts";
import type { JsonValue } from "./json.ts";

/** A hash that says how it was made: the algorithm, a colon, 64 lowercase hexadecimal digits. */
export type Digest = `${DigestAlgorithm}:${string}`;
export type DigestAlgorithm = "blake3" | "sha256";

const digestPattern = /^(?:blake3|sha256):[0-9a-f]{64}$/;

export function isDigest(value: unknown): value is Digest {
  return typeof value === "string" && digestPattern.test(value);
}

const encoder = /* @__PURE__ */ new TextEncoder();
const decoder = /* @__PURE__ */ new TextDecoder();

/** The two digits of each byte. */
const digits: Uint8Array = /* @__PURE__ */ new TextEncoder().encode(
  Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0")).join(""),
);

/** What an algorithm has to bring: the hash of the first bytes as 8 little-endian words, to be read at once. */
export type HashWords = (bytes: Uint8Array, byteLength: number) => Int32Array;

/**
 * One algorithm, in every form in which a kernel hashes. {@link blake3Hash} is the default; `@keyhole/kernel/sha256` has another one.
 */
export interface Hash {
  readonly algorithm: DigestAlgorithm;
  /** 64 zeros behind the name: what the first event of a log points back to. */
  readonly zero: Digest;
  bytes(bytes: Uint8Array): Digest;
  /**
   * Of a text as UTF-8.
   *
   * @throws TypeError for a text with a lone surrogate, which has no UTF-8: a bug in the caller, who has to refuse it before.
   */
  text(text: string): Digest;
  /** `text`, and how many bytes were hashed. */
  measure(text: string): { readonly hash: Digest; readonly byteLength: number };
  /**
   * Of a value's canonical JSON (RFC 8785): equal exactly when the data is equal.
   *
   * @throws TypeError when the value is not JSON: a bug in the caller.
   */
  json(value: JsonValue): Digest;
  /** Of bytes that arrive in parts. */
  hasher(): Hasher;
  /** `json` for data that may hold a fault which canonical JSON refuses: then the digest is over the fault and its place. */
  jsonOrFault(value: JsonValue): Digest;
}

/** Bytes in parts; holds a few kilobytes. */
export interface Hasher {
  /** They are read before this returns, and can be used again. */
  update(bytes: Uint8Array): void;
  /** Of all bytes so far. */
  digest(): Digest;
}

/** What an algorithm has to bring for bytes in parts: the same words, also to be read at once. */
export interface HashParts {
  update(bytes: Uint8Array): unknown;
  words(): Int32Array;
}

export function hashWith(algorithm: DigestAlgorithm, words: HashWords, open: () => HashParts): Hash {
  const zero: Digest = `${algorithm}:${"0".repeat(64)}`;
  /** Room for the digits, behind the algorithm's name. All names have six letters. */
  const printed = encoder.encode(zero);
  const bytes = (given: Uint8Array): Digest => print(words(given, given.length), printed);
  const measure = (text: string): { readonly hash: Digest; readonly byteLength: number } => {
    if (!text.isWellFormed()) throw new TypeError("a text with a lone surrogate has no hash");
    if (text.length * 3 > blake3Room.length) {
      const encoded = encoder.encode(text);
      return { hash: bytes(encoded), byteLength: encoded.length };
    }
    // Short texts are encoded in place: no array per hash.
    const { written } = encoder.encodeInto(text, blake3Room);
    return { hash: print(words(blake3Room, written), printed), byteLength: written };
  };
  const text = (given: string): Digest => measure(given).hash;
  return {
    algorithm,
    zero,
    bytes,
    text,
    measure,
    json: (value) => text(canonicalJson(value)),
    hasher() {
      const parts = open();
      return { update: (part) => void parts.update(part), digest: () => print(parts.words(), printed) };
    },
    jsonOrFault(value) {
      const result = canonicalize(value);
      return text(result.ok ? result.text : result.error.message);
    },
  };
}

/** BLAKE3, the algorithm of every kernel that is not given another one. */
export const blake3Hash: Hash = /* @__PURE__ */ hashWith("blake3", blake3Words, createHasher);

/** BLAKE3 of some bytes. */
export function hashBytes(bytes: Uint8Array): Digest {
  return blake3Hash.bytes(bytes);
}

/**
 * BLAKE3 of a text as UTF-8.
 *
 * @throws TypeError for a text with a lone surrogate, which has no UTF-8.
 */
export function hashText(text: string): Digest {
  return blake3Hash.text(text);
}

/**
 * BLAKE3 of a value's canonical JSON (RFC 8785).
 *
 * @throws TypeError when the value is not JSON.
 */
export function hashJson(value: JsonValue): Digest {
  return blake3Hash.json(value);
}

/** 32 bytes, as 8 little-endian words. Decoding 71 bytes is faster than joining strings, and gives a text in one piece. */
function print(words: Int32Array, target: Uint8Array): Digest {
  for (let i = 0, at = 7; i < 8; i++) {
    for (let word = words[i]!, rest = 4; rest > 0; rest--, word >>>= 8, at += 2) {
      const pair = (word & 255) * 2;
      target[at] = digits[pair]!;
      target[at + 1] = digits[pair + 1]!;
    }
  }
  return decoder.decode(target) as Digest;
}
