import { spendOn } from "../budget.ts";
import { at, type Context, hasKeywords, invalid, type Keywords, listed, type Place } from "../context.ts";
import { isCompound, isObject } from "../equal.ts";
import type { Check } from "../types.ts";
import { ALWAYS, call, NEVER, type Unit } from "../unit.ts";

/** What is behind a chain of plain `$ref`s, for looking at, not for compiling. */
export function behindRefs(from: Place, context: Context): Place {
  let place = from;
  for (let hops = 0; hops < 8 && hasKeywords(place); hops++) {
    place = context.locate(place);
    const { schema } = place as Keywords;
    if (typeof schema["$ref"] !== "string" || Object.keys(schema).length > 1) break;
    place = context.follow(place as Keywords, "$ref");
  }
  return place;
}

/** The primitive values that a branch allows for a property that it requires. */
function tags(branch: Keywords, key: string): readonly unknown[] {
  const { schema } = at(at(branch, "properties"), key);
  if (!isObject(schema) || schema["$ref"] !== undefined) return [];
  const list = Object.hasOwn(schema, "const") ? [schema["const"]] : schema["enum"];
  return Array.isArray(list) && !list.some(isCompound) ? list : [];
}

/**
 * The property whose value picks the branch: each branch is of type object, requires it, and allows values for it that
 * no other branch allows. Undefined when there is none.
 */
export function discriminator(
  branches: readonly Place[],
  context: Context,
): { readonly key: string; readonly byTag: ReadonlyMap<unknown, number> } | undefined {
  const resolved = branches.map((branch) => behindRefs(branch, context)).filter(hasKeywords);
  const required = ({ schema }: Keywords): unknown => schema["type"] === "object" && schema["required"];
  const keys = resolved.map(required).filter(Array.isArray) as unknown[][];
  if (keys.length < 2 || keys.length < branches.length) return undefined;
  for (const key of keys[0] as string[]) {
    const byTag = new Map<unknown, number>();
    const fits = resolved.every((branch, index) => {
      const own = tags(branch, key);
      return (
        own.length > 0 && keys[index]?.includes(key) && own.every((tag) => !byTag.has(tag) && byTag.set(tag, index))
      );
    });
    if (fits) return { key, byTag };
  }
  return undefined;
}

/** At least one of the checks, or exactly one. */
function some(checks: readonly Check[], exactly: boolean): Check {
  return (value) => {
    spendOn(value, checks.length);
    let found = 0;
    for (let index = 0; index < checks.length; index++) {
      if ((checks[index] as Check)(value) && (++found > 1 || !exactly)) return !exactly;
    }
    return found === 1;
  };
}

/** `anyOf` and `oneOf`; where a discriminator keeps the branches apart, one look instead of a try of each branch. */
function alternatives(list: readonly Place[], exactly: boolean, context: Context): Unit {
  const checks = list.map((branch) => context.inPlace(branch).check);
  const possible = checks.filter((check) => check !== NEVER.check);
  if (possible.length === 0) return NEVER;
  const found = discriminator(list, context);
  if (found === undefined) return call(some(possible, exactly));
  const { key } = found;
  const byTag = new Map([...found.byTag].map(([tag, index]) => [tag, checks[index] as Check]));
  return call((value) => {
    if (!isObject(value)) return false;
    const check = byTag.get(value[key]);
    return check !== undefined && check(value);
  });
}

/** `allOf`, `anyOf`, `oneOf`, `not`, `if`. */
export function logic(place: Keywords, context: Context): Unit[] {
  const { schema } = place;
  const units: Unit[] = [];
  const check = (keyword: string): Check => context.inPlace(at(place, keyword)).check;
  for (const keyword of ["allOf", "anyOf", "oneOf"]) {
    if (schema[keyword] === undefined) continue;
    const list = listed(place, keyword);
    if (list.length === 0) throw invalid(place, keyword, "a non-empty array of schemas");
    if (keyword !== "allOf") units.push(alternatives(list, keyword === "oneOf", context));
    else {
      if (list.length > 1) units.push(call((value) => (spendOn(value, list.length), true)));
      units.push(...list.map(context.inPlace));
    }
  }
  if (schema["not"] !== undefined) {
    const not = check("not");
    units.push(not === ALWAYS.check ? NEVER : call((value) => !not(value)));
  }
  if (schema["if"] !== undefined) {
    const [test, yes, no] = ["if", "then", "else"].map(check) as [Check, Check, Check];
    units.push(call((value) => (spendOn(value, 2), test(value) ? yes(value) : no(value))));
  }
  return units;
}
