import { spend } from "./budget.ts";
import type { JsonObject } from "./types.ts";

/**
 * Never `from[key]` in the body of `for (key in from)`: V8 (13.6) records nothing about such a read while all objects are
 * plain. Once one came that is not (after `delete`, with very many members), it optimises and gives up for ever after.
 */
export const read = (from: JsonObject, key: string): unknown => from[key];

/** Whether an object has all of these members; one that is undefined is absent. */
export function hasAll(value: JsonObject, names: readonly string[]): boolean {
  spend(names.length);
  for (const name of names) if (!Object.hasOwn(value, name) || read(value, name) === undefined) return false;
  return true;
}

/** A member that usually is the first one: found faster than by its name. */
export function memberOf(value: JsonObject, key: string): unknown {
  for (const name in value) if (name === key) return read(value, name);
  return undefined;
}
