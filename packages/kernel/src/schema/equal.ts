import { spend } from "./budget.ts";
import type { JsonObject } from "./types.ts";

/** An array or an object. */
export const isCompound = (value: unknown): value is JsonObject => typeof value === "object" && value !== null;

export const isObject = (value: unknown): value is JsonObject => isCompound(value) && !Array.isArray(value);

/** Equality of JSON values as JSON Schema defines it (2020-12, section 4.2.2): members of objects have no order. */
export function equal(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (!isCompound(a) || !isCompound(b) || Array.isArray(a) !== Array.isArray(b)) return false;
  const keys = Object.keys(a);
  spend(4 + keys.length);
  return keys.length === Object.keys(b).length && keys.every((key) => Object.hasOwn(b, key) && equal(a[key], b[key]));
}

/** A text that equal JSON values share and different ones do not. */
function identity(value: unknown): string {
  spend(4 + (typeof value === "string" ? value.length >> 5 : 0));
  if (!isCompound(value)) return JSON.stringify(value) ?? "";
  if (Array.isArray(value)) return `[${value.map(identity).join()}]`;
  return `{${Object.keys(value)
    .sort()
    .map((key) => `${JSON.stringify(key)}:${identity(value[key])}`)
    .join()}}`;
}

/** Whether no two items are equal; linear in the size of the array, but for short ones, which need no memory. */
export function unique(items: readonly unknown[]): boolean {
  const { length } = items;
  spend(length);
  if (length <= 8) {
    for (let i = 1; i < length; i++) for (let j = 0; j < i; j++) if (equal(items[i], items[j])) return false;
    return true;
  }
  const primitives = new Set<unknown>();
  const compound = new Set<string>();
  for (const item of items) {
    if (isCompound(item)) compound.add(identity(item));
    else primitives.add(item);
  }
  return primitives.size + compound.size === length;
}
