/** A schema with values that conform and values that do not. */
export interface Workload {
  readonly name: string;
  readonly schema: { readonly [keyword: string]: unknown };
  readonly valid: readonly unknown[];
  readonly invalid: readonly unknown[];
}

const copy = <T>(value: T): T => JSON.parse(JSON.stringify(value)) as T;

/** A copy with one place changed: the last key of the path is set, or removed when the value is undefined. */
export function changed(value: unknown, path: readonly (string | number)[], to: unknown): unknown {
  const root = copy(value);
  let at = root as Record<string | number, unknown>;
  for (const key of path.slice(0, -1)) at = at[key] as Record<string | number, unknown>;
  const last = path.at(-1) as string;
  if (to === undefined) delete at[last];
  else at[last] = to;
  return copy(root); // with the shape that JSON.parse gives it: deleting leaves a slower one
}
