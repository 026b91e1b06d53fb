import { canonicalize } from "../json/canonical-json.ts";
import { type NormalizeError, normalizeError } from "../json/normalize-error.ts";
import type { Digest, Hash } from "../hash/hash.ts";
import { isBytes } from "../support/foreign.ts";
import type { JsonValue } from "../json/json.ts";
import { toForm } from "../support/unicode.ts";

/** How the output of a tool becomes the hashed bytes. */
export type NormalizationKind = "json" | "text" | "binary";

/** A normal form that the embedding program adds: its own code, trusted, of this realm. `@keyhole/kernel/normalizers` makes one. */
export interface CustomNormalizer {
  /** `name@version`. */
  readonly id: string;
  /** Never throws. `output` is data, and stays as it is. */
  readonly apply: (kind: NormalizationKind, output: JsonValue | Uint8Array, hash: Hash) => Normalized;
}

/** By name. */
export type CustomNormalizers = ReadonlyMap<string, CustomNormalizer>;

/** `hash` is over `byteLength` bytes: those of `bytes`, or of `text` as UTF-8. */
export type Normalized =
  | {
      readonly ok: true;
      readonly text: string;
      readonly bytes?: never;
      readonly hash: Digest;
      readonly byteLength: number;
    }
  | {
      readonly ok: true;
      readonly text?: never;
      readonly bytes: Uint8Array<ArrayBuffer>;
      readonly hash: Digest;
      readonly byteLength: number;
    }
  | { readonly ok: false; readonly error: NormalizeError };

const normalizers = {
  json(value, hash) {
    const result = canonicalize(value);
    return result.ok ? normalized(result.text, hash) : result;
  },

  text(value, hash) {
    if (typeof value !== "string") return refuse("not-text");
    if (!value.isWellFormed()) return refuse("lone-surrogate");
    const text = value.replace(/\r\n?/g, "\n");
    return normalized(toForm("NFC", text), hash);
  },

  binary(value, hash) {
    if (!isBytes(value)) return refuse("not-bytes");
    try {
      // The copy reads the memory itself: no method or property of the value, which could be forged.
      const bytes = new Uint8Array(value as Uint8Array);
      return { ok: true, bytes, hash: hash.bytes(bytes), byteLength: bytes.length };
    } catch {
      return refuse("detached");
    }
  },
} satisfies Record<NormalizationKind, (value: unknown, hash: Hash) => Normalized>;

/**
 * The one form of an output that the kernel keeps and hashes, equal on every host.
 *
 * - `json`: canonical JSON (RFC 8785).
 * - `text`: Unicode NFC, and `\n` for `\r\n` and `\r`. Characters that are newer than an engine's Unicode version keep their form.
 * - `binary`: a copy of the bytes of a `Uint8Array`, of any realm.
 *
 * The function refuses bad values, and never throws. A value of the same realm that is foreign is taken by `snapshot` first.
 */
export function normalize(kind: NormalizationKind, value: unknown, hash: Hash): Normalized {
  return normalizers[kind](value, hash);
}

/** The digest of a text in its normal form. */
export function normalized(text: string, by: Hash): Normalized {
  const { hash, byteLength } = by.measure(text);
  return { ok: true, text, hash, byteLength };
}

function refuse(reason: NormalizeError["reason"]): Normalized {
  return { ok: false, error: normalizeError(reason, []) };
}
