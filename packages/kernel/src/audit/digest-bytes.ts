import { type Digest, isDigest } from "../normalize/hash.ts";

/** The 32 bytes that a BLAKE3 digest prints; `undefined` for anything else. */
export function digestBytes(digest: unknown): Uint8Array<ArrayBuffer> | undefined {
  if (!isDigest(digest) || !digest.startsWith("blake3:")) return undefined;
  return Uint8Array.from({ length: 32 }, (_, i) => Number.parseInt(digest.slice(7 + i * 2, 9 + i * 2), 16));
}

/** The digest that 32 bytes of BLAKE3 print as. */
export function printDigest(bytes: Uint8Array): Digest {
  return `blake3:${Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("")}`;
}
