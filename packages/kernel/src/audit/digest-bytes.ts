import { type Digest, type DigestAlgorithm, isDigest } from "../hash/hash.ts";

/** The 32 bytes that a digest prints; `undefined` for what is none. */
export function digestBytes(digest: unknown): Uint8Array<ArrayBuffer> | undefined {
  return isDigest(digest) ? bytesOf(digest) : undefined;
}

/** The same for a digest that was made here. */
export function bytesOf(digest: Digest): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(32);
  // The names of both algorithms have six letters.
  for (let i = 0; i < 32; i++) bytes[i] = (nibble(digest, 7 + i * 2) << 4) | nibble(digest, 8 + i * 2);
  return bytes;
}

/** Of a lower-case hexadecimal digit: `0` to `9` are 48 to 57, `a` to `f` 97 to 102. */
function nibble(digest: string, at: number): number {
  const code = digest.charCodeAt(at);
  return code < 58 ? code - 48 : code - 87;
}

/** The digest that 32 bytes of an algorithm print as; BLAKE3 by default. */
export function printDigest(bytes: Uint8Array, algorithm: DigestAlgorithm = "blake3"): Digest {
  return `${algorithm}:${Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("")}`;
}
