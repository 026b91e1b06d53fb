import { blake3Hash } from "./blake3-hash.ts";
import { type DigestAlgorithm, type Hash, isDigest } from "./hash.ts";
import { sha256Hash } from "./sha256.ts";

/** For those who read what some kernel wrote. A kernel has one algorithm, and does not import this. */
const hashes: Record<DigestAlgorithm, Hash> = { blake3: blake3Hash, sha256: sha256Hash };

/** The algorithm of this name; `undefined` where there is none. */
export function hashFor(algorithm: unknown): Hash | undefined {
  return algorithm === "blake3" || algorithm === "sha256" ? hashes[algorithm] : undefined;
}

/** The algorithm that a digest names; `undefined` for what is no digest. */
export function hashOf(digest: unknown): Hash | undefined {
  return isDigest(digest) ? hashFor(digest.slice(0, digest.indexOf(":"))) : undefined;
}
