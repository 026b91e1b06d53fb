import { canonicalJson } from "../json/canonical-json.ts";
import { blake3Hash } from "../hash/blake3-hash.ts";
import type { Hash } from "../hash/hash.ts";
import { isJsonObject, type JsonValue } from "../json/json.ts";

/**
 * The value and the salt behind a commitment. The salt has 16 random bytes, so a guessed value
 * cannot be found by its digest. The holder of the opening can show the value and prove that the
 * commitment is to it.
 */
export interface Opening {
  /** JSON Pointer into `{ input, output }`. */
  readonly path: string;
  /** 32 hexadecimal digits. */
  readonly salt: string;
  readonly value: JsonValue;
}

/** The stored text, and the input of the commitment's digest: canonical JSON (RFC 8785). */
export function openingText({ path, salt, value }: Opening): string {
  return canonicalJson({ path, salt, value });
}

/**
 * The commitment in an event, in place of the value. It has the algorithm of its log; default
 * BLAKE3.
 */
export function commitmentOf(opening: Opening, by: Hash = blake3Hash): string {
  return by.text(openingText(opening));
}

/** A foreign value as an opening; `undefined` for what is none. */
export function readOpening(shown: JsonValue): Opening | undefined {
  if (!isJsonObject(shown)) return undefined;
  const { path, salt, value, ...more } = shown;
  if (typeof path !== "string" || typeof salt !== "string" || value === undefined || Object.keys(more).length > 0)
    return undefined;
  return { path, salt, value };
}
