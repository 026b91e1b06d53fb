/**
 * The characters of a value as JSON, about: escapes are not counted. It writes no text, which for a result of 50 MB would stop the page.
 *
 * @param most where the count ends
 */
export function jsonLength(data: unknown, most: number): number {
  const waiting: unknown[] = [data];
  let length = 0;
  while (waiting.length > 0 && length <= most) {
    const value = waiting.pop();
    if (typeof value === "string") length += value.length + 2;
    else if (value instanceof Uint8Array) length += value.length;
    else if (typeof value !== "object" || value === null) length += String(value).length;
    else {
      const values = Array.isArray(value) ? (value as readonly unknown[]) : namesAndValues(value);
      length += 2 + values.length;
      // Each takes a character and a comma at least.
      if (length > most) return length;
      for (const each of values) waiting.push(each);
    }
  }
  return length;
}

function namesAndValues(value: object): readonly unknown[] {
  return Object.entries(value).flat();
}
