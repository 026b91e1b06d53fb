import {
  ALWAYS,
  ANY,
  at,
  both,
  call,
  type Context,
  count,
  invalid,
  passes,
  type Place,
  type Unit,
} from "../context.ts";
import { unique } from "../equal.ts";
import type { Check, JsonObject } from "../types.ts";

type ArrayCheck = (value: readonly unknown[]) => boolean;

/** Which keyword holds the schemas by position, and which one the rest, in this dialect. */
export function tuple(
  schema: JsonObject,
  place: Place,
): { prefix: readonly unknown[]; prefixKey: string; rest: unknown; restKey: string } {
  const { items } = schema;
  if (place.resource.dialect.year === 2020) {
    const prefix = schema["prefixItems"] ?? [];
    if (!Array.isArray(prefix)) throw invalid(place, "prefixItems", "an array of schemas");
    if (Array.isArray(items))
      throw invalid(place, "items", "a schema (2020-12 writes a list of schemas as prefixItems)");
    return { prefix, prefixKey: "prefixItems", rest: items, restKey: "items" };
  }
  if (Array.isArray(items))
    return { prefix: items, prefixKey: "items", rest: schema["additionalItems"], restKey: "additionalItems" };
  return { prefix: [], prefixKey: "items", rest: items, restKey: "items" };
}

/** All items from `start` on. */
function every(unit: Unit, start: number): ArrayCheck {
  return (value) => {
    for (let index = start; index < value.length; index++) if (!passes(unit, value[index])) return false;
    return true;
  };
}

function contains(schema: JsonObject, place: Place, context: Context): ArrayCheck | undefined {
  if (schema["contains"] === undefined) return undefined;
  const { check } = context.child(schema["contains"], at(place, "contains"));
  const modern = place.resource.dialect.year !== 7;
  const lo = modern ? count(schema, "minContains", place, 1) : 1;
  const hi = modern ? count(schema, "maxContains", place, Infinity) : Infinity;
  return (value) => {
    let found = 0;
    for (let index = 0; index < value.length; index++) {
      if (check(value[index]) && (++found > hi || (found >= lo && hi === Infinity))) return found <= hi;
    }
    return found >= lo;
  };
}

export function arrays(schema: JsonObject, place: Place, context: Context): Check | undefined {
  const checks: ArrayCheck[] = [];
  const lo = count(schema, "minItems", place, 0);
  const hi = count(schema, "maxItems", place, Infinity);
  if (lo > 0 || hi !== Infinity) checks.push((value) => value.length >= lo && value.length <= hi);
  const { prefix, prefixKey, rest, restKey } = tuple(schema, place);
  const units = prefix.map((item, index) => context.child(item, at(place, `${prefixKey}/${index}`)));
  if (units.length > 0) {
    checks.push((value) => {
      const length = Math.min(units.length, value.length);
      for (let index = 0; index < length; index++) if (!(units[index] as Unit).check(value[index])) return false;
      return true;
    });
  }
  const unit = rest === undefined ? ALWAYS : context.child(rest, at(place, restKey));
  if (unit.op !== ANY) checks.push(every(unit, units.length));
  const some = contains(schema, place, context);
  if (some !== undefined) checks.push(some);
  if (schema["uniqueItems"] === true && place.resource.dialect.validation) checks.push(unique);
  return all(checks as unknown as Check[]);
}

/** All of the checks, without a loop for the usual few. */
export function all(checks: readonly Check[]): Check | undefined {
  const [a, b] = checks;
  if (checks.length < 3) return both(a, b);
  return (value) => {
    for (let index = 0; index < checks.length; index++) if (!(checks[index] as Check)(value)) return false;
    return true;
  };
}

export const asUnit = (check: Check | undefined): Unit => (check === undefined ? ALWAYS : call(check));
