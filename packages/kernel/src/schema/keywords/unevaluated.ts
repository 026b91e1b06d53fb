import { at, type Context, type Place } from "../context.ts";
import { isObject } from "../equal.ts";
import type { Check, JsonObject } from "../types.ts";
import { parts } from "../walk.ts";

type Kind = "Items" | "Properties";

/**
 * Adds the members or indexes of a valid value that a schema evaluates to `seen`. What the specification collects as
 * annotations is found here by a second walk, and only for schemas that ask. The keyword that `skip` matches is left out.
 */
export function evaluated(
  schema: unknown,
  from: Place,
  value: unknown,
  seen: Set<string | number>,
  context: Context,
  skip?: RegExp,
): void {
  if (!isObject(schema)) return;
  const place = context.locate(schema, from);
  context.budget.spendOn(value, 1);
  for (const part of parts(schema, place, value, context)) {
    const { keyword, token } = part;
    // Draft 7 and 2019-09 do not let contains evaluate anything.
    if (
      skip?.test(keyword) === true ||
      keyword === "propertyNames" ||
      (keyword === "contains" && place.resource.dialect.year !== 2020)
    )
      continue;
    if (part.branch && keyword !== "if" && !context.check(part.schema, part.place)(part.value)) continue;
    if (token === undefined) evaluated(part.schema, part.place, part.value, seen, context);
    else seen.add(token);
  }
}

/** The check of `unevaluatedItems` or `unevaluatedProperties`; undefined where there is none. */
export function unevaluated(schema: JsonObject, place: Place, kind: Kind, context: Context): Check | undefined {
  const keyword = `unevaluated${kind}`;
  const rest = schema[keyword];
  if (rest === undefined || rest === true) return undefined;
  const { check } = context.child(rest, at(place, keyword));
  return (value) => {
    const seen = new Set<string | number>();
    evaluated(schema, place, value, seen, context, /^unevaluated/);
    return Object.entries(value as object).every(
      ([key, part]) => seen.has(kind === "Items" ? Number(key) : key) || check(part),
    );
  };
}
