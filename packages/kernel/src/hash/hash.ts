import { canonicalize, canonicalJson } from "../json/canonical-json.ts";
import type { JsonLike } from "../json/json.ts";

/** A hash with the name of its algorithm: the algorithm, a colon, 64 lowercase hexadecimal digits. */
export type Digest = `${DigestAlgorithm}:${string}`;
export type DigestAlgorithm = "blake3" | "sha256";

/** As a schema says it. */
export const digestPattern = "^(blake3|sha256):[0-9a-f]{64}$";
const digestForm = /* @__PURE__ */ new RegExp(digestPattern);

export function isDigest(value: unknown): value is Digest {
  return typeof value === "string" && digestForm.test(value);
}

const encoder = /* @__PURE__ */ new TextEncoder();
const decoder = /* @__PURE__ */ new TextDecoder();

/** A text of ASCII as memory, two characters a number. */
function inPairs(text: string): Uint16Array<ArrayBuffer> {
  const bytes = new Uint8Array(text.length);
  encoder.encodeInto(text, bytes);
  return new Uint16Array(bytes.buffer);
}

/** The two digits of each byte. */
const pairs: Uint16Array = /* @__PURE__ */ inPairs(
  Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0")).join(""),
);

const digitsOf = (byte: number): number => pairs[byte] ?? 0;

/**
 * An algorithm: returns the hash of the first bytes as 8 little-endian words. Read them
 * immediately.
 */
export type HashWords = (bytes: Uint8Array, byteLength: number) => Int32Array;

/** One algorithm, in every form in which a kernel hashes: `blake3Hash`, or `sha256Hash` of `@keyhole/kernel/sha256`. */
export interface Hash {
  readonly algorithm: DigestAlgorithm;
  /** 64 zeros behind the name: `prev` of the first event of a log. */
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
  json<T>(value: JsonLike<T>): Digest;
  /** Of bytes that arrive in parts. */
  hasher(): Hasher;
  /** `json` for data that may hold a fault which canonical JSON refuses: then the digest is over the fault and its place. */
  jsonOrFault<T>(value: JsonLike<T>): Digest;
}

/** Bytes in parts; holds a few kilobytes. */
export interface Hasher {
  /** The caller can reuse them afterwards. */
  update(bytes: Uint8Array): void;
  /** Of all bytes so far. */
  digest(): Digest;
}

/** An algorithm for bytes in parts: returns the same words. Read them immediately. */
export interface HashParts {
  update(bytes: Uint8Array): unknown;
  words(): Int32Array;
}

/** @param scratch where short texts are encoded, to be hashed at once: no array per hash */
export function hashWith(
  algorithm: DigestAlgorithm,
  words: HashWords,
  open: () => HashParts,
  scratch: Uint8Array<ArrayBuffer> = new Uint8Array(16_384),
): Hash {
  const zero: Digest = `${algorithm}:${"0".repeat(64)}`;
  /** Room for the digits, from place 4 on: all algorithms' names have six letters, and a space before them makes that even. */
  const room = inPairs(` ${zero}`);
  const printed = new Uint8Array(room.buffer, 1);
  const print = (from: Int32Array): Digest => {
    putDigits(from, room);
    return decoder.decode(printed) as Digest; // Faster than joining strings, and it gives a text in one piece.
  };
  const bytes = (given: Uint8Array): Digest => print(words(given, given.length));
  const measure = (text: string): { readonly hash: Digest; readonly byteLength: number } => {
    if (!text.isWellFormed()) throw new TypeError("a text with a lone surrogate has no hash");
    if (text.length * 3 > scratch.length) {
      const encoded = encoder.encode(text);
      return { hash: bytes(encoded), byteLength: encoded.length };
    }
    const { written } = encoder.encodeInto(text, scratch);
    return { hash: print(words(scratch, written)), byteLength: written };
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
      return { update: (part) => void parts.update(part), digest: () => print(parts.words()) };
    },
    jsonOrFault(value) {
      const result = canonicalize(value);
      return text(result.ok ? result.text : result.error.message);
    },
  };
}

/** 32 bytes, as 8 little-endian words. */
function putDigits(words: Int32Array, target: Uint16Array): void {
  for (let i = 0, at = 4; i < 8; i++, at += 4) {
    const word = words[i] ?? 0;
    target[at] = digitsOf(word & 255);
    target[at + 1] = digitsOf((word >>> 8) & 255);
    target[at + 2] = digitsOf((word >>> 16) & 255);
    target[at + 3] = digitsOf(word >>> 24);
  }
}
