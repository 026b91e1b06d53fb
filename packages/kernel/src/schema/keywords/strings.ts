import { spend } from "../budget.ts";
import { type Context, count, type Keywords, text } from "../context.ts";
import { findFormat } from "../formats/index.ts";
import type { Check } from "../types.ts";
import { both } from "../unit.ts";
import { content } from "./content.ts";
import { asScalar, type Scalar } from "./types.ts";

export function strings(place: Keywords, context: Context): Scalar | undefined {
  const { dialect } = place.resource;
  const { limits, options } = context;
  const asserts = options.formats !== "annotate";
  const pattern = text(place, "pattern");
  const matcher = pattern === undefined ? undefined : context.pattern(pattern, `${place.path}/pattern`);
  let more: Check | undefined = matcher && ((value) => matcher.matches(value as string));
  if (asserts || dialect.formatAssertion === true) {
    const test = findFormat(text(place, "format"), options.idna);
    if (test !== undefined)
      more = both(more, (value) => {
        const { length } = value as string;
        if (length > limits.formatLength) return false;
        spend(4 + (length >> 1));
        return test(value as string);
      });
  }
  if (dialect.year === 7 && asserts) more = both(more, content(place.schema));
  return asScalar(count(place, "minLength") ?? 0, count(place, "maxLength"), more);
}
