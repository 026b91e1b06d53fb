import type { JsonValue } from "../json/json.ts";
import { blake3Room, blake3Words, createHasher } from "./blake3.ts";
import { type Digest, type Hash, hashWith } from "./hash.ts";

/** BLAKE3, the algorithm of `createKernel` where no other one is given. Nothing that a kernel is made of imports it. */
export const blake3Hash: Hash = /* @__PURE__ */ hashWith("blake3", blake3Words, createHasher, blake3Room);

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
