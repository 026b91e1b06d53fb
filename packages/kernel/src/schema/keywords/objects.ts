import {
  ALWAYS,
  at,
  type Budget,
  type Context,
  count,
  names,
  NEVER,
  ANY,
  passes,
  type Op,
  type Place,
  schemaMap,
  type Unit,
} from "../context.ts";
import type { Matcher } from "../regex/pattern.ts";
import type { Check, JsonObject } from "../types.ts";
import { escapeToken } from "../uri.ts";
import { all } from "./arrays.ts";

/** A property that the schema names: how to check it, and whether it is required. */
interface Slot {
  readonly key: string | undefined;
  readonly index: number;
  readonly op: Op;
  readonly lo: number;
  readonly hi: number;
  readonly check: Check;
  readonly required: 0 | 1;
}

interface PatternSlot {
  readonly matches: Matcher;
  readonly check: Check;
}

const END: Slot = { key: undefined, index: 0, ...NEVER, required: 0 };

/**
 * One pass over the value's own members. Members usually come in the order in which the schema names them, so that
 * each is first compared with the slot that is next, and looked up only when that fails.
 */
function members(
  slots: readonly Slot[],
  extra: Unit,
  patterns: readonly PatternSlot[],
  nameCheck: Check | undefined,
  lo: number,
  hi: number,
  budget: Budget,
): Check {
  const byName = new Map(slots.map((slot) => [slot.key as string, slot]));
  const order = [...slots, END];
  const need = slots.reduce((sum, slot) => sum + slot.required, 0);
  const open = extra.op === ANY;
  const simple: Check = (value) => {
    let left = need;
    let next = 0;
    let size = 0;
    for (const key in value as JsonObject) {
      if ((++size & 15) === 0) budget.spend(16);
      let slot = order[next] as Slot;
      if (slot.key !== key) {
        const found = byName.get(key);
        if (found === undefined) {
          if (!open && !passes(extra, (value as JsonObject)[key])) return false;
          continue;
        }
        slot = found;
      }
      next = slot.index + 1;
      if (!passes(slot, (value as JsonObject)[key])) return false;
      left -= slot.required;
    }
    return left === 0;
  };
  if (patterns.length === 0 && nameCheck === undefined && lo === 0 && hi === Infinity) return simple;
  return (value) => {
    let left = need;
    let next = 0;
    let size = 0;
    for (const key in value as JsonObject) {
      const member = (value as JsonObject)[key];
      size++;
      budget.spend(1);
      if (nameCheck !== undefined && !nameCheck(key)) return false;
      const expected = order[next] as Slot;
      const slot = expected.key === key ? expected : byName.get(key);
      let known = slot !== undefined;
      if (slot !== undefined) {
        next = slot.index + 1;
        if (!passes(slot, member)) return false;
        left -= slot.required;
      }
      for (let index = 0; index < patterns.length; index++) {
        const { matches, check } = patterns[index] as PatternSlot;
        if (matches(key)) {
          known = true;
          if (!check(member)) return false;
        }
      }
      if (!known && !passes(extra, member)) return false;
    }
    return left === 0 && size >= lo && size <= hi;
  };
}

/** Members that `required` names and `properties` does not: they still meet `additionalProperties` and `patternProperties`. */
function onlyRequired(required: ReadonlySet<string>, properties: JsonObject): string[] {
  return [...required].filter((name) => !Object.hasOwn(properties, name));
}

function dependents(schema: JsonObject, place: Place, context: Context, checks: Check[]): void {
  const modern = place.resource.dialect.year !== 7;
  for (const keyword of modern ? ["dependentRequired", "dependentSchemas", "dependencies"] : ["dependencies"]) {
    const map = schemaMap(schema, keyword, place);
    if (map === undefined || (keyword === "dependentRequired" && !place.resource.dialect.validation)) continue;
    for (const name of Object.keys(map)) {
      const entry = map[name];
      if (keyword === "dependentRequired" || (keyword === "dependencies" && Array.isArray(entry))) {
        const needs = names(entry, `${keyword}/${escapeToken(name)}`, place);
        checks.push(
          (value) =>
            !Object.hasOwn(value as object, name) || needs.every((need) => Object.hasOwn(value as object, need)),
        );
      } else {
        const { check } = context.inPlace(entry, at(place, `${keyword}/${escapeToken(name)}`));
        checks.push((value) => !Object.hasOwn(value as object, name) || check(value));
      }
    }
  }
}

export function objects(schema: JsonObject, place: Place, context: Context): Check | undefined {
  const { validation } = place.resource.dialect;
  const properties = schemaMap(schema, "properties", place) ?? {};
  const required = validation && schema["required"] !== undefined ? names(schema["required"], "required", place) : [];
  const needed = new Set(required);
  const slots: Slot[] = Object.keys(properties).map((key, index) => {
    const unit = context.child(properties[key], at(place, `properties/${escapeToken(key)}`));
    return { key, index, check: unit.check, op: unit.op, lo: unit.lo, hi: unit.hi, required: needed.has(key) ? 1 : 0 };
  });
  const additional = schema["additionalProperties"];
  const extra = additional === undefined ? ALWAYS : context.child(additional, at(place, "additionalProperties"));
  const patternMap = schemaMap(schema, "patternProperties", place) ?? {};
  const patterns = Object.keys(patternMap).map((source) => {
    const where = at(place, `patternProperties/${escapeToken(source)}`);
    return { matches: context.pattern(source, where.path), check: context.child(patternMap[source], where).check };
  });
  const propertyNames = schema["propertyNames"];
  const nameCheck =
    propertyNames === undefined ? undefined : context.child(propertyNames, at(place, "propertyNames")).check;
  const lo = count(schema, "minProperties", place, 0);
  const hi = count(schema, "maxProperties", place, Infinity);
  const checks: Check[] = [];
  const unnamed = onlyRequired(needed, properties);
  if (unnamed.length > 0 && extra.op === ANY && patterns.length === 0) {
    unnamed.forEach((key) => slots.push({ key, index: slots.length, ...ALWAYS, required: 1 }));
  } else if (unnamed.length > 0) {
    checks.push((value) => unnamed.every((name) => Object.hasOwn(value as object, name)));
  }
  const closed = extra.op !== ANY || patterns.length > 0 || nameCheck !== undefined || lo > 0 || hi !== Infinity;
  if (slots.some((slot) => slot.required === 1 || slot.op !== ANY) || closed)
    checks.unshift(members(slots, extra, patterns, nameCheck, lo, hi, context.budget));
  dependents(schema, place, context, checks);
  return all(checks);
}
