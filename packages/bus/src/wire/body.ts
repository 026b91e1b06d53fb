import { isJsonObject, type JsonObject, type JsonValue, parseJson } from "@keyhole/kernel";
import { jsonTextFault } from "@keyhole/kernel/foreign";

/** Of one body. A bus message is small: it has to fit into memory many times. */
const limits = { maxDepth: 64, maxNodes: 200_000, maxMembers: 100_000 };

const noBytes: Uint8Array = new Uint8Array();
const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

export function writeBody(value: JsonValue | undefined): Uint8Array {
  return value === undefined ? noBytes : encoder.encode(JSON.stringify(value));
}

/** The JSON of a foreign body. `undefined` for what is none, is too deep or too large, or has a key `__proto__` or a name twice. */
export function readBody(body: Uint8Array): JsonValue | undefined {
  try {
    const text = decoder.decode(body);
    const read = parseJson(text, limits);
    return read.ok && !jsonTextFault(text, "any") ? read.value : undefined;
  } catch {
    return undefined;
  }
}

export function readObject(body: Uint8Array): JsonObject | undefined {
  const value = readBody(body);
  return isJsonObject(value) ? value : undefined;
}
