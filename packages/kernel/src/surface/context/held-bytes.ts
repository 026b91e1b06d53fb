import type { JsonValue } from "../../json/json.ts";

/** Of any value, beside its text. An object with many members takes as much for each of them. */
const VALUE_BYTES = 64;
const UNIT_BYTES = 2;

/** At least the memory that a value takes, in bytes. It can be twenty times the value's JSON text: a pair of brackets is an array. */
export function heldBytes(value: JsonValue | Uint8Array): number {
  if (value instanceof Uint8Array) return VALUE_BYTES + value.byteLength;
  let bytes = 0;
  const left: JsonValue[] = [value];
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    bytes += VALUE_BYTES;
    if (typeof next === "string") bytes += next.length * UNIT_BYTES;
    if (typeof next !== "object" || next === null) continue;
    for (const [name, each] of Object.entries(next)) {
      bytes += name.length * UNIT_BYTES;
      left.push(each);
    }
  }
  return bytes;
}
