import { spend } from "./budget.ts";
import type { JsonObject } from "./types.ts";

/** An array or an object. */
export const isCompound = (value: unknown): value is JsonObject => typeof value === "object" && value !== null;

export const isObject = (value: unknown): value is JsonObject => isCompound(value) && !Array.isArray(value);

/** Whether a value has a member; one that is undefined is absent. */
export const has = (value: JsonObject, name: string): boolean =>
  Object.hasOwn(value, name) && value[name] !== undefined;

/** The names of all members, or the indexes of all items. */
export function names(value: JsonObject): readonly string[] {
  const all = Object.keys(value);
  return Array.isArray(value) || all.every((key) => value[key] !== undefined)
    ? all
    : all.filter((key) => value[key] !== undefined);
}

/** Equality of JSON values as JSON Schema defines it (2020-12, section 4.2.2): members of objects have no order. */
export function equal(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (!isCompound(a) || !isCompound(b) || Array.isArray(a) !== Array.isArray(b)) return false;
  const keys = names(a);
  spend(4 + keys.length);
  return keys.length === names(b).length && keys.every((key) => has(b, key) && equal(a[key], b[key]));
}

/** A text that equal JSON values share and different ones do not. */
export function identity(value: unknown): string {
  spend(4 + (typeof value === "string" ? value.length >> 5 : 0));
  if (!isCompound(value)) return JSON.stringify(value) ?? "";
  if (Array.isArray(value)) return `[${value.map(identity).join()}]`;
  return `{${[...names(value)]
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
