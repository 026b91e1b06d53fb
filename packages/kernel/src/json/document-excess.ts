import type { JsonValue } from "./json.ts";

/** The bounds of a document. */
export interface DocumentBounds {
  /** Values of any kind, names of members among them. */
  readonly values: number;
  /** UTF-16 units of all texts and names. */
  readonly characters: number;
}

/** How a document holds more than it may, as the end of a sentence. Looks at no more than it may hold. */
export function documentExcess(document: JsonValue, { values, characters }: DocumentBounds): string | undefined {
  const waiting: JsonValue[] = [document];
  let seen = 0;
  let length = 0;
  for (let each = waiting.pop(); each !== undefined; each = waiting.pop()) {
    seen++;
    if (typeof each === "string") length += each.length;
    else if (typeof each === "object" && each !== null) {
      const inner: readonly JsonValue[] = Array.isArray(each) ? each : Object.entries(each).flat();
      if (inner.length > values) return `at most ${values} values in total`;
      for (const value of inner) waiting.push(value);
    }
    if (seen + waiting.length > values) return `at most ${values} values in total`;
    if (length > characters) return `at most ${characters} characters in total`;
  }
  return undefined;
}
