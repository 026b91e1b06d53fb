import { blake3Hash, type DigestAlgorithm, type Hash, isDigest } from "./hash.ts";
import { sha256Hash } from "./sha256.ts";

/** For those who read what some kernel wrote. A kernel has one algorithm, and does not import this. */
const hashes: Record<DigestAlgorithm, Hash> = { blake3: blake3Hash, sha256: sha256Hash };

/** The algorithm that a digest names; `undefined` for what is no digest. */
export function hashOf(digest: unknown): Hash | undefined {
  return isDigest(digest) ? hashes[digest.startsWith("sha256:") ? "sha256" : "blake3"] : undefined;
}
