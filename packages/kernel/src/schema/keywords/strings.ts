import { both, count, type Context, invalid, type Place } from "../context.ts";
import { findFormat } from "../formats/index.ts";
import type { Check, JsonObject } from "../types.ts";
import { content } from "./content.ts";
import { asScalar, type Scalar } from "./types.ts";

export function strings(schema: JsonObject, place: Place, context: Context): Scalar | undefined {
  const { dialect } = place.resource;
  const lo = count(schema, "minLength", place, 0);
  const hi = count(schema, "maxLength", place, Infinity);
  const { pattern, format } = schema;
  let more: Check | undefined;
  if (pattern !== undefined && dialect.validation) {
    if (typeof pattern !== "string") throw invalid(place, "pattern", "a string");
    more = context.pattern(pattern, `${place.path}/pattern`) as Check;
  }
  if (format !== undefined && (context.assertFormats || dialect.formatAssertion)) {
    if (typeof format !== "string") throw invalid(place, "format", "a string");
    const test = findFormat(format, context.idna);
    const { formatLength } = context.budget.limits;
    if (test !== undefined)
      more = both(more, (value) => (value as string).length <= formatLength && test(value as string));
  }
  if (dialect.year === 7 && context.assertFormats) more = both(more, content(schema));
  return asScalar(lo, 0, hi, more);
}
