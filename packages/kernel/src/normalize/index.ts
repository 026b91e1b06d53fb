export { CANONICAL_MAX_DEPTH, type CanonicalResult, canonicalize, canonicalJson } from "./canonical-json.ts";
export type { NormalizeError, NormalizeReason } from "./error.ts";
export type { JsonArray, JsonObject, JsonValue } from "./json.ts";
