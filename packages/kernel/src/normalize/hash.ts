import { blake3Words } from "./blake3.ts";
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

/** Short texts are encoded in place: no array per hash. */
const scratch: Uint8Array = /* @__PURE__ */ new Uint8Array(16_384);

/** BLAKE3 of some bytes. */
export function hashBytes(bytes: Uint8Array): Digest {
  return print(blake3Words(bytes, bytes.length));
}

/**
 * BLAKE3 of a text as UTF-8.
 *
 * @throws TypeError for a text with a lone surrogate, which has no UTF-8: a bug in the caller, who has to refuse it before.
 */
export function hashText(text: string): Digest {
  return measureText(text).hash;
}

/** {@link hashText}, and how many bytes were hashed. */
export function measureText(text: string): { readonly hash: Digest; readonly byteLength: number } {
  if (!text.isWellFormed()) throw new TypeError("a text with a lone surrogate has no hash");
  if (text.length * 3 > scratch.length) {
    const bytes = encoder.encode(text);
    return { hash: hashBytes(bytes), byteLength: bytes.length };
  }
  const { written } = encoder.encodeInto(text, scratch);
  return { hash: print(blake3Words(scratch, written)), byteLength: written };
}

/**
 * BLAKE3 of a value's canonical JSON (RFC 8785): equal exactly when the data is equal.
 *
 * @throws TypeError when the value is not JSON: a bug in the caller.
 */
export function hashJson(value: JsonValue): Digest {
  return hashText(canonicalJson(value));
}

/** {@link hashJson} for data that may hold a fault which canonical JSON refuses: then the digest is over the fault and its place. */
export function hashJsonOrFault(value: JsonValue): Digest {
  const result = canonicalize(value);
  return hashText(result.ok ? result.text : result.error.message);
}

/**
 * SHA-256 of some bytes, where a contract asks for it. Browsers have it in secure contexts only.
 */
export async function sha256(bytes: Uint8Array<ArrayBuffer>): Promise<Digest> {
  const hash = new DataView(await crypto.subtle.digest("SHA-256", bytes));
  return print(
    Int32Array.from({ length: 8 }, (_, i) => hash.getInt32(i * 4, true)),
    encoder.encode(`sha256:${"0".repeat(64)}`),
  );
}

const digits: Uint8Array = /* @__PURE__ */ new TextEncoder().encode("0123456789abcdef");
/** Room for the digits, behind the algorithm's name. All names have six letters. */
const blake3Text: Uint8Array = /* @__PURE__ */ new TextEncoder().encode(`blake3:${"0".repeat(64)}`);

/** 32 bytes, as 8 little-endian words. Decoding 71 bytes is faster than joining strings, and gives a text in one piece. */
function print(words: Int32Array, target: Uint8Array = blake3Text): Digest {
  for (let i = 0; i < 32; i++) {
    const byte = words[i >> 2]! >> ((i & 3) * 8);
    target[i * 2 + 7] = digits[(byte >> 4) & 15]!;
    target[i * 2 + 8] = digits[byte & 15]!;
  }
  return decoder.decode(target) as Digest;
}
