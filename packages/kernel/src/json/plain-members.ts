import { isPlainObject } from "./is-plain-object.ts";

/**
 * The members of an object of options, each read once. `undefined` for what is no plain object, or hides a member from a copy: a restriction
 * that a class, a prototype or a symbol carries would otherwise restrict nothing.
 *
 * @throws the exception of a getter or a trap
 */
export function plainMembers(given: unknown): Record<string, unknown> | undefined {
  if (typeof given !== "object" || given === null || Array.isArray(given) || !isPlainObject(given)) return undefined;
  const owned = Reflect.ownKeys(given).length;
  const members: Record<string, unknown> = { ...given };
  return Object.keys(members).length === owned ? members : undefined;
}
