import type { JsonValue } from "./json.ts";

/**
 * Whether a JSON text names a member of an object twice. `JSON.parse` keeps the last one, other
 * readers the first, so two readers can see two values (RFC 8785 refuses it by RFC 7493).
 *
 * @param value the parsed text
 */
export function repeatsKeys(text: string, value: JsonValue): boolean {
  return membersNamed(text) !== membersOf(value);
}

/** Every member has one colon that is in no string. */
function membersNamed(text: string): number {
  let named = 0;
  let isInString = false;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit === QUOTE) isInString = !isInString;
    else if (isInString && unit === BACKSLASH) i++;
    else if (!isInString && unit === COLON) named++;
  }
  return named;
}

const [QUOTE, BACKSLASH, COLON] = [34, 92, 58];

function membersOf(value: JsonValue): number {
  let members = 0;
  const values = [value];
  for (let each = values.pop(); each !== undefined; each = values.pop()) {
    if (typeof each !== "object" || each === null) continue;
    const parts: readonly JsonValue[] = Object.values(each);
    if (!Array.isArray(each)) members += parts.length;
    for (const part of parts) values.push(part);
  }
  return members;
}
