/** Unlike `Array.isArray`, which makes a list of `any`. */
export function isList(value: unknown): value is readonly unknown[] {
  return Array.isArray(value);
}

/** Unlike `Number.isSafeInteger`, which says nothing of the type. */
export function isSafeInteger(value: unknown): value is number {
  return Number.isSafeInteger(value);
}

/**
 * A value that an invariant of the caller's says to be there: the last of a list that is not empty, the row of a key that was put.
 *
 * @throws TypeError when it is not: a bug.
 */
export function present<T>(value: T | undefined): T {
  if (value === undefined) throw new TypeError("missing");
  return value;
}
