import { spend } from "../budget.ts";
import { at, type Context, count, invalid, type Keywords, listed, type Place } from "../context.ts";
import { unique } from "../equal.ts";
import type { Check } from "../types.ts";
import { all, ANY, passes, type Unit } from "../unit.ts";

type ArrayCheck = (value: readonly unknown[]) => boolean;

/** The schemas by position, and the one of the rest, in this dialect. */
export function tuple(place: Keywords): { readonly prefix: readonly Place[]; readonly rest: Place } {
  const items = at(place, "items");
  const isList = Array.isArray(items.schema);
  if (place.resource.dialect.year !== 2020)
    return isList
      ? { prefix: listed(place, "items"), rest: at(place, "additionalItems") }
      : { prefix: [], rest: items };
  if (isList) throw invalid(place, "items", "a schema (2020-12 writes a list of schemas as prefixItems)");
  return { prefix: listed(place, "prefixItems"), rest: items };
}

/** All items from `start` on. */
function every(unit: Unit, start: number): ArrayCheck {
  return (value) => {
    spend(value.length);
    for (let index = start; index < value.length; index++) if (!passes(unit, value[index])) return false;
    return true;
  };
}

/** The items at the start, each by its own unit. */
function each(units: readonly Unit[]): ArrayCheck {
  return (value) => {
    const length = Math.min(units.length, value.length);
    spend(length);
    for (let index = 0; index < length; index++) if (!(units[index] as Unit).check(value[index])) return false;
    return true;
  };
}

function contains(check: Check, lo: number, hi: number): ArrayCheck {
  return (value) => {
    spend(value.length);
    let found = 0;
    for (let index = 0; index < value.length; index++) {
      if (check(value[index]) && (++found > hi || (found >= lo && hi === Infinity))) return found <= hi;
    }
    return found >= lo;
  };
}

export function arrays(place: Keywords, context: Context): Check | undefined {
  const { schema } = place;
  const checks: ArrayCheck[] = [];
  const lo = count(place, "minItems") ?? 0;
  const hi = count(place, "maxItems") ?? Infinity;
  if (lo > 0 || hi !== Infinity) checks.push((value) => value.length >= lo && value.length <= hi);
  const { prefix, rest } = tuple(place);
  if (prefix.length > 0) checks.push(each(prefix.map(context.child)));
  const unit = context.child(rest);
  if (unit.op !== ANY) checks.push(every(unit, prefix.length));
  if (schema["contains"] !== undefined) {
    const { check } = context.child(at(place, "contains"));
    checks.push(contains(check, count(place, "minContains") ?? 1, count(place, "maxContains") ?? Infinity));
  }
  if (schema["uniqueItems"] === true) checks.push(unique);
  return all(checks as unknown as Check[]);
}
