export { blake3, blake3DeriveKey, type Blake3Hasher, blake3Keyed, type Blake3Mode, createHasher } from "./blake3.ts";
export { canonicalize, canonicalJson, type CanonicalResult } from "./canonical-json.ts";
export type { ContentStore } from "./content.ts";
export type { NormalizeError, NormalizeReason } from "./error.ts";
export {
  blake3Hash,
  type Digest,
  type DigestAlgorithm,
  type Hash,
  hashBytes,
  hashJson,
  hashText,
  isDigest,
} from "./hash.ts";
export type { ContentReference } from "./reference.ts";
export type { JsonArray, JsonObject, JsonValue } from "./json.ts";
export {
  type CustomNormalizer,
  type CustomNormalizers,
  type NormalizationKind,
  normalize,
  type Normalized,
} from "./normalizer.ts";
export { parseJson, snapshot, SNAPSHOT_LIMITS, type SnapshotLimits, type SnapshotResult } from "./snapshot.ts";
