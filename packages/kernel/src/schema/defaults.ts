import { spend, within } from "./budget.ts";
import { check } from "./check.ts";
import { has, isCompound, isObject } from "./equal.ts";
import type { Limits } from "./limits.ts";
import { ALL, ARRAY, type Default, MAP, type Node, RECORD, REF, TYPED } from "./node.ts";
import { EXHAUSTED } from "./refusal.ts";
import type { JsonObject } from "./types.ts";

/** A copy that shares nothing with the schema; a member `__proto__` is left out. */
function clone(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(clone);
  if (!isObject(value)) return value;
  const copy: Record<string, unknown> = {};
  for (const key of Object.keys(value)) if (key !== "__proto__") copy[key] = clone(value[key]);
  return copy;
}

/**
 * Finds out which defaults conform: the validator never fills in the others. All share the budget of one value, and those beyond
 * it are left out, too.
 */
export function judgeDefaults(defaults: readonly Default[], limits: Limits): void {
  const judge = (): void => {
    for (const each of defaults) {
      const value = clone(each.value);
      // As it is, or once what is below it is filled in.
      each.fits = check(each.node, value) || check(each.node, filled(each.node, value, limits.valueDepth));
    }
  };
  within(limits, judge, undefined, undefined);
}

/**
 * A value with the defaults of a node, also below what was filled in; what gets none is shared, not copied. Branches that
 * may not apply (`anyOf`, `oneOf`, `if`, `dependentSchemas`) give no defaults: which of them applies is not known before.
 */
export function filled(node: Node, value: unknown, depth: number): unknown {
  if (!node.fills || !isCompound(value)) return value;
  // A default that brings itself in again would never end.
  if (depth < 0) throw EXHAUSTED;
  spend(1);
  if (node.op === REF) return node.a === undefined ? value : filled(node.a, value, depth);
  if (node.op !== ALL) return withParts(node, withOwn(node, value), depth - 1);
  const own = node.a;
  let result: unknown = own === undefined ? value : withOwn(own, value);
  for (const each of node.list) if (each !== own) result = filled(each, result, depth);
  return own === undefined ? result : withParts(own, result as JsonObject, depth - 1);
}

/** The node of objects, or that of arrays. */
function partOf(node: Node, value: JsonObject): Node | undefined {
  const part = node.op === TYPED ? (Array.isArray(value) ? node.b : node.c) : node;
  const of = part?.op === ALL ? part.a : part;
  const fits = Array.isArray(value) ? of?.op === ARRAY : of?.op === RECORD || of?.op === MAP;
  return fits && of?.fills === true ? of : undefined;
}

function withOwn(node: Node, value: JsonObject): JsonObject {
  const defaults = partOf(node, value)?.defaults;
  if (defaults === undefined || defaults.length === 0) return value;
  spend(defaults.length);
  let copy: Record<string, unknown> | undefined;
  for (const { name, value: missing, steps, fits } of defaults) {
    if (!fits || has(value, name)) continue;
    spend(steps);
    copy ??= { ...value };
    copy[name] = isCompound(missing) ? clone(missing) : missing;
  }
  return copy ?? value;
}

function withParts(node: Node, value: JsonObject, depth: number): unknown {
  const part = partOf(node, value);
  if (part === undefined) return value;
  return Array.isArray(value) ? withItems(part, value, depth) : withMembers(part, value, depth);
}

const STEPS_PER_ITEM = 12;
const STEPS_PER_MEMBER = 4;

function withItems({ list, a }: Node, value: readonly unknown[], depth: number): readonly unknown[] {
  spend(STEPS_PER_ITEM * value.length);
  let copy: unknown[] | undefined;
  for (let index = 0; index < value.length; index++) {
    const of = list[index] ?? a;
    const item = of === undefined ? value[index] : filled(of, value[index], depth);
    if (item !== value[index]) (copy ??= [...value])[index] = item;
  }
  return copy ?? value;
}

function withMembers(node: Node, value: JsonObject, depth: number): JsonObject {
  const { fillers, patterns, byName, extra } = node;
  spend(1 + fillers.length);
  let full = value;
  for (const { key, node: of } of fillers)
    if (Object.hasOwn(value, key)) full = withMember(full, value, key, of, depth);
  if (patterns.length === 0 && extra?.fills !== true) return full;
  for (const name of Object.keys(value)) {
    spend(STEPS_PER_MEMBER + patterns.length);
    const matching = patterns.filter(({ pattern }) => pattern.matches(name));
    for (const each of matching) full = withMember(full, value, name, each.node, depth);
    if (extra && matching.length === 0 && !byName.has(name) && name !== "__proto__")
      full = withMember(full, value, name, extra, depth);
  }
  return full;
}

/** @param full The value, or already its copy. */
function withMember(full: JsonObject, value: JsonObject, name: string, of: Node, depth: number): JsonObject {
  const before = full[name];
  const after = of.fills ? filled(of, before, depth) : before;
  if (after === before) return full;
  const copy = full === value ? { ...value } : (full as Record<string, unknown>);
  copy[name] = after;
  return copy;
}
