import { both, count, type Context, invalid, type Place } from "../context.ts";
import { findFormat } from "../formats/index.ts";
import type { Check, JsonObject } from "../types.ts";
import { content } from "./content.ts";

/** Unicode code points, the unit of `minLength` and `maxLength`; a lone surrogate counts as one. */
export function codePoints(text: string): number {
  let length = text.length;
  for (let index = 1; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    if (unit >= 0xdc00 && unit <= 0xdfff) {
      const before = text.charCodeAt(index - 1);
      if (before >= 0xd800 && before <= 0xdbff) length--;
    }
  }
  return length;
}

/** Counts code points only where UTF-16 units leave it open. */
export function lengthWithin(text: string, lo: number, hi: number): boolean {
  const units = text.length;
  if (units < lo) return false;
  if (units <= hi && units >= 2 * lo) return true;
  if (units > 2 * hi) return false;
  if (units <= hi && lo === 0) return true;
  const length = codePoints(text);
  return length >= lo && length <= hi;
}

export interface StringChecks {
  readonly lo: number;
  readonly hi: number;
  readonly more: Check | undefined;
}

export function strings(schema: JsonObject, place: Place, context: Context): StringChecks {
  const { dialect } = place.resource;
  const lo = dialect.validation ? count(schema, "minLength", place, 0) : 0;
  const hi = dialect.validation ? count(schema, "maxLength", place, Infinity) : Infinity;
  const { pattern, format } = schema;
  let more: Check | undefined;
  if (pattern !== undefined && dialect.validation) {
    if (typeof pattern !== "string") throw invalid(place, "pattern", "a string");
    more = context.pattern(pattern, `${place.path}/pattern`) as Check;
  }
  if (format !== undefined && (context.assertFormats || dialect.formatAssertion)) {
    if (typeof format !== "string") throw invalid(place, "format", "a string");
    more = both(more, findFormat(format, context.idna) as Check | undefined);
  }
  if (dialect.year === 7 && context.assertFormats) more = both(more, content(schema));
  return { lo, hi, more };
}
