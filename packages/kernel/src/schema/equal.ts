/** Equality of JSON values as JSON Schema defines it (2020-12, section 4.2.2): members of objects have no order. */
export function equal(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  if (Array.isArray(a)) {
    if (!Array.isArray(b) || a.length !== b.length) return false;
    for (let index = 0; index < a.length; index++) if (!equal(a[index], b[index])) return false;
    return true;
  }
  if (Array.isArray(b)) return false;
  const keys = Object.keys(a);
  if (keys.length !== Object.keys(b).length) return false;
  for (const key of keys) {
    if (!Object.hasOwn(b, key) || !equal((a as Record<string, unknown>)[key], (b as Record<string, unknown>)[key]))
      return false;
  }
  return true;
}

/** A text that equal JSON values share and different ones do not. */
export function identity(value: unknown): string {
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "";
  if (Array.isArray(value)) return `[${value.map(identity).join(",")}]`;
  const object = value as Record<string, unknown>;
  return `{${Object.keys(object)
    .sort()
    .map((key) => `${JSON.stringify(key)}:${identity(object[key])}`)
    .join(",")}}`;
}

/** Whether no two items are equal; linear in the size of the array, but for short ones, which need no memory. */
export function unique(items: readonly unknown[]): boolean {
  const length = items.length;
  if (length <= 8) {
    for (let i = 1; i < length; i++) for (let j = 0; j < i; j++) if (equal(items[i], items[j])) return false;
    return true;
  }
  const primitives = new Set<unknown>();
  const compound = new Set<string>();
  for (const item of items) {
    if (typeof item === "object" && item !== null) {
      const text = identity(item);
      if (compound.has(text)) return false;
      compound.add(text);
    } else {
      if (primitives.has(item)) return false;
      primitives.add(item);
    }
  }
  return true;
}
