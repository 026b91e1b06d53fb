import { canonicalize } from "../json/canonical-json.ts";
import { blake3Hash } from "../hash/blake3-hash.ts";
import type { Digest, Hash } from "../hash/hash.ts";
import { hashFor, hashOf } from "../hash/hash-by-algorithm.ts";
import { isJsonObject, type JsonObject, type JsonValue, isJsonArray, parseOwnJson } from "../json/json.ts";
import { jsonTextFault } from "../json/json-text-fault.ts";
import { parseJson, snapshot } from "../json/snapshot.ts";
import { LINE_BYTES } from "./lines.ts";

/** The fault of a log, for people. Thrown by {@link readItem}. */
export class EvidenceFault extends Error {}

/** An item beyond the bounds of this reader: a value that was disclosed can be larger. Thrown by {@link readItem}. */
export class EvidenceExcess extends Error {}

/** One item of a log. */
export interface EvidenceItem {
  /** The algorithm that `hash` names; `undefined` where that is no digest. */
  readonly by: Hash | undefined;
  /** Of the event without `hash`, in canonical JSON. */
  readonly actualHash: Digest;
  readonly hash: unknown;
  readonly event: JsonObject;
  /** Outside the hash. */
  readonly openings?: JsonValue | undefined;
}

/**
 * A foreign line, or event, of a log.
 *
 * @throws {EvidenceFault} for what no event can be
 * @throws {EvidenceExcess} for what the reader does not take whole
 */
export function readItem(item: unknown): EvidenceItem {
  if (typeof item !== "string") return split(snapshot(item, { maxStringUnits: LINE_BYTES }));
  if (item.length > LINE_BYTES) throw new EvidenceExcess(`A line has more than ${LINE_BYTES} characters.`);
  const written = readWritten(item);
  if (written) return written;
  const parsed = parseJson(item);
  if (parsed.ok && jsonTextFault(item, "any")) throw new EvidenceFault("It names a member twice.");
  return split(parsed);
}

const PREFIX = ',"hash":"';
const SUFFIX_LENGTH: number = PREFIX.length + blake3Hash.zero.length + 2;

/**
 * A line as our sinks write it: the hashed text itself, and the digest behind it. A line whose
 * digest matches needs no sorting.
 */
function readWritten(line: string): EvidenceItem | undefined {
  const place = line.length - SUFFIX_LENGTH;
  if (!line.startsWith(PREFIX, place) || !line.endsWith('"}') || !line.isWellFormed()) return undefined;
  const body = line.slice(0, place) + "}";
  const hash = line.slice(place + PREFIX.length, -2);
  // A text that is equal to a digest made here is one: it needs no second look.
  const by = hashFor(hash.slice(0, hash.indexOf(":")));
  const actualHash = by?.text(body);
  if (actualHash === undefined || actualHash !== hash) return undefined;
  try {
    const event = parseOwnJson(body);
    const isEvent = isJsonObject(event) && !Object.hasOwn(event, "hash");
    return isEvent && isCanonical(body, event) ? { by, actualHash, hash: actualHash, event } : undefined;
  } catch {
    return undefined;
  }
}

function isCanonical(text: string, value: JsonValue): boolean {
  return isSorted(value) && JSON.stringify(value) === text;
}

/** Whether all keys are in the order of their UTF-16 units. */
function isSorted(value: JsonValue): boolean {
  if (typeof value !== "object" || value === null) return true;
  if (isJsonArray(value)) return value.every(isSorted);
  let before = "";
  for (const key of Object.keys(value)) {
    if (key < before) return false;
    before = key;
    const member = value[key];
    if (typeof member === "object" && !isSorted(member)) return false;
  }
  return true;
}

function split(plain: ReturnType<typeof snapshot>): EvidenceItem {
  if (!plain.ok && plain.error.reason === "too-large")
    throw new EvidenceExcess(`An event is beyond the bounds of this reader: ${plain.error.message}.`);
  if (!plain.ok) throw new EvidenceFault(`It is not JSON: ${plain.error.message}.`);
  if (!isJsonObject(plain.value)) throw new EvidenceFault("The event is not an object.");
  const { hash, openings, ...event } = plain.value;
  const text = canonicalize(event);
  if (!text.ok) throw new EvidenceFault(`It has no canonical form: ${text.error.message}.`);
  const by = hashOf(hash);
  return { by, actualHash: (by ?? blake3Hash).text(text.text), hash, event, openings };
}
