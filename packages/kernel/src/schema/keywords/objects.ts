import { spend } from "../budget.ts";
import { at, type Context, count, type Keywords, named, names } from "../context.ts";
import { has } from "../equal.ts";
import type { Pattern } from "../regex/pattern.ts";
import type { Check, JsonObject } from "../types.ts";
import { all, ALWAYS, ANY, NEVER, type Op, passes, type Unit } from "../unit.ts";

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
  readonly pattern: Pattern;
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
): Check {
  const byName = new Map(slots.map((slot) => [slot.key as string, slot]));
  const order = [...slots, END];
  const need = slots.reduce((sum, slot) => sum + slot.required, 0);
  const open = extra.op === ANY;
  const simple: Check = (value) => {
    spend(1);
    let left = need;
    let next = 0;
    let size = 0;
    for (const key in value as JsonObject) {
      if ((++size & 15) === 0) spend(16);
      if ((value as JsonObject)[key] === undefined) continue;
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
      spend(1);
      if (member === undefined) continue;
      size++;
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
        const { pattern, check } = patterns[index] as PatternSlot;
        if (pattern.matches(key)) {
          known = true;
          if (!check(member)) return false;
        }
      }
      if (!known && !passes(extra, member)) return false;
    }
    return left === 0 && size >= lo && size <= hi;
  };
}

/** `dependentRequired`, `dependentSchemas`, and `dependencies`, which is both. */
function dependents(place: Keywords, context: Context): Check[] {
  return ["dependentRequired", "dependentSchemas", "dependencies"].flatMap((keyword) =>
    named(place, keyword).map(([name, entry]): Check => {
      if (keyword === "dependentRequired" || (keyword === "dependencies" && Array.isArray(entry.schema))) {
        const needs = names(at(place, keyword) as Keywords, name) as readonly string[];
        return (value) => (spend(1), !has(value as JsonObject, name) || hasAll(value, needs));
      }
      const { check } = context.inPlace(entry);
      return (value) => (spend(1), !has(value as JsonObject, name) || check(value));
    }),
  );
}

function hasAll(value: unknown, needs: readonly string[]): boolean {
  spend(needs.length);
  return needs.every((name) => has(value as JsonObject, name));
}

export function objects(place: Keywords, context: Context): Check | undefined {
  const needed = new Set(names(place, "required"));
  const slots: Slot[] = [];
  const addSlot = (key: string, { check, op, lo, hi }: Unit): void => {
    slots.push({ key, index: slots.length, check, op, lo, hi, required: needed.delete(key) ? 1 : 0 });
  };
  for (const [key, property] of named(place, "properties")) addSlot(key, context.child(property));
  const extra = context.child(at(place, "additionalProperties"));
  const patterns = named(place, "patternProperties").map(([source, entry]) => ({
    pattern: context.pattern(source, entry.path),
    check: context.child(entry).check,
  }));
  const name = context.child(at(place, "propertyNames"));
  const nameCheck = name.op === ANY ? undefined : name.check;
  const lo = count(place, "minProperties") ?? 0;
  const hi = count(place, "maxProperties") ?? Infinity;
  const checks: Check[] = [];
  // Members that are required and not named still meet `additionalProperties` and `patternProperties`.
  const unnamed = [...needed];
  const open = extra.op === ANY && patterns.length === 0;
  if (open) for (const key of unnamed) addSlot(key, ALWAYS);
  if (
    !open ||
    nameCheck !== undefined ||
    lo > 0 ||
    hi !== Infinity ||
    slots.some((slot) => slot.required === 1 || slot.op !== ANY)
  )
    checks.push(members(slots, extra, patterns, nameCheck, lo, hi));
  if (!open && unnamed.length > 0) checks.push((value) => hasAll(value, unnamed));
  return all([...checks, ...dependents(place, context)]);
}
