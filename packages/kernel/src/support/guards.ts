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

/** Whether an object has a member of its own. `in` sees those of `Object.prototype` too, which any library of the program can extend: a condition would read as another one. */
export function hasOwn<Value extends object, Name extends PropertyKey>(
  value: Value,
  name: Name,
): value is object extends Value
  ? Value & { readonly [Each in Name]: unknown }
  : Extract<Value, { readonly [Each in Name]?: unknown }> {
  return Object.hasOwn(value, name);
}
