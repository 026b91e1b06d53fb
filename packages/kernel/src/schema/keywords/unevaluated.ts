import { spend, spendOn } from "../budget.ts";
import { at, type Context, hasKeywords, type Keywords, type Place } from "../context.ts";
import type { Check } from "../types.ts";
import { ANY } from "../unit.ts";
import { parts } from "../walk.ts";

/**
 * Adds the members or indexes of a valid value that a schema evaluates to `seen`. What the specification collects as
 * annotations is found here by a second walk, and only for schemas that ask. The keyword that `skip` matches is left out.
 */
export function evaluated(
  from: Place,
  value: unknown,
  context: Context,
  skip?: RegExp,
  seen: Set<string | number> = new Set(),
): ReadonlySet<string | number> {
  if (!hasKeywords(from)) return seen;
  const place = context.locate(from);
  spend(8);
  spendOn(value, 1);
  for (const { keyword, token, place: sub, value: part, branch } of parts(place, value, context)) {
    // Draft 7 and 2019-09 do not let contains evaluate anything.
    if (
      skip?.test(keyword) === true ||
      keyword === "propertyNames" ||
      (keyword === "contains" && place.resource.dialect.year !== 2020) ||
      (branch && !context.check(sub)(part))
    )
      continue;
    if (token === undefined) evaluated(sub, part, context, undefined, seen);
    else seen.add(token);
  }
  return seen;
}

/** The check of `unevaluatedItems` or `unevaluatedProperties`; undefined where there is none. */
export function unevaluated(place: Keywords, keyword: string, context: Context): Check | undefined {
  const { check, op } = context.child(at(place, keyword));
  if (op === ANY) return undefined;
  return (value) => {
    const seen = evaluated(place, value, context, /^unevaluated/);
    const entries = Object.entries(value as object);
    spend(4 * entries.length);
    return entries.every(
      ([key, part]) => part === undefined || seen.has(Array.isArray(value) ? Number(key) : key) || check(part),
    );
  };
}
