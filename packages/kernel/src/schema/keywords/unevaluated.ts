import { spend, spendOn } from "../budget.ts";
import { check } from "../check.ts";
import { at, type Context, hasKeywords, type Keywords, type Place } from "../context.ts";
import { isCompound } from "../equal.ts";
import { ANY_TYPE } from "../json-type.ts";
import { ALWAYS, ANY, type Node, testNode } from "../node.ts";
import { parts } from "../walk.ts";
import { dispatch } from "./typed.ts";

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

function rest(place: Keywords, keyword: string, context: Context): Node | undefined {
  const node = context.child(at(place, keyword));
  if (node.op === ANY) return undefined;
  return testNode((value) => {
    if (!isCompound(value)) return true;
    const seen = evaluated(place, value, context, /^unevaluated/);
    const entries = Object.entries(value);
    spend(4 * entries.length);
    return entries.every(
      ([key, part]) => part === undefined || seen.has(Array.isArray(value) ? Number(key) : key) || check(node, part),
    );
  });
}

/** `unevaluatedItems` and `unevaluatedProperties`. */
export function unevaluated(place: Keywords, context: Context): Node {
  const array = rest(place, "unevaluatedItems", context);
  const object = rest(place, "unevaluatedProperties", context);
  return array === undefined && object === undefined ? ALWAYS : dispatch(ANY_TYPE, undefined, undefined, array, object);
}
