import { spend, within } from "./budget.ts";
import { at, type Context, hasKeywords, type Keywords, listed, named, type Place, type Scope } from "./context.ts";
import { has, isCompound, isObject } from "./equal.ts";
import { tuple } from "./keywords/arrays.ts";
import { EXHAUSTED, Refusal } from "./refusal.ts";
import type { Pattern } from "./regex/pattern.ts";
import type { Check, JsonObject } from "./types.ts";

/** A default that a property may get. */
interface Default {
  readonly name: string;
  readonly place: Place;
  readonly value: unknown;
  /** What it costs to copy. */
  readonly steps: number;
}

/** What one subschema fills in, and where below it there is more to fill in. */
interface Filler {
  /** Whether there is anything to fill in, here or below. */
  fills: boolean;
  own: Default[];
  /** Subschemas of the same value: behind `$ref`, and in `allOf`. */
  readonly inPlace: Filler[];
  /** By property; without a filler where the property's schema has no keywords. */
  readonly properties: Map<string, Filler | undefined>;
  readonly patterns: (readonly [pattern: Pattern, filler: Filler | undefined])[];
  additional: Filler | undefined;
  prefix: readonly (Filler | undefined)[];
  rest: Filler | undefined;
  /** Those that have this one. */
  readonly users: Filler[];
}

const STEPS_PER_ITEM = 12;
const STEPS_PER_MEMBER = 4;

/** A copy that shares nothing with the schema; a key `__proto__` is left out, which JSON.parse would make a member of. */
function clone(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(clone);
  if (!isObject(value)) return value;
  const copy: Record<string, unknown> = {};
  for (const key of Object.keys(value)) if (key !== "__proto__") copy[key] = clone(value[key]);
  return copy;
}

/** Fills in the defaults of a schema, in place, also below what was filled in. Undefined where there are none. */
export type Fill = (value: unknown) => void;

/**
 * Compiles what a schema fills in: missing members, from `properties/…/default`. Branches that may not apply (`anyOf`,
 * `oneOf`, `if`, `dependentSchemas`) give no defaults: which of them applies is not known before. A default that does not
 * conform to its property's schema is left out, which is a warning.
 */
export function compileDefaults(root: Place, context: Context): Fill | undefined {
  const fillers = new Fillers(context);
  const filler = fillers.of(root);
  if (filler === undefined) return undefined;
  fillers.findUseful();
  fillers.leaveOutUnfit();
  if (!filler.fills) return undefined;
  const { valueDepth } = context.limits;
  return (value) => fill(filler, value, valueDepth);
}

/** The fillers of one validator, one for each place. */
class Fillers {
  readonly #all: Filler[] = [];
  readonly #byPlace = new Map<unknown, Map<Scope, Filler>>();
  readonly #context: Context;

  constructor(context: Context) {
    this.#context = context;
  }

  of(from: Place): Filler | undefined {
    if (!hasKeywords(from)) return undefined;
    const byScope = this.#byPlace.get(from.schema) ?? new Map<Scope, Filler>();
    this.#byPlace.set(from.schema, byScope);
    const known = byScope.get(from.scope);
    if (known !== undefined) return known;
    const filler: Filler = {
      fills: false,
      own: [],
      inPlace: [],
      properties: new Map(),
      patterns: [],
      additional: undefined,
      prefix: [],
      rest: undefined,
      users: [],
    };
    byScope.set(from.scope, filler);
    this.#all.push(filler);
    this.#read(filler, this.#context.locate(from));
    return filler;
  }

  #read(filler: Filler, place: Keywords): void {
    const part = (sub: Place): Filler | undefined => {
      const of = this.of(sub);
      of?.users.push(filler);
      return of;
    };
    for (const keyword of ["$ref", "$dynamicRef"]) {
      const behind = place.schema[keyword] === undefined ? undefined : part(this.#context.follow(place, keyword));
      if (behind !== undefined) filler.inPlace.push(behind);
    }
    for (const each of listed(place, "allOf")) {
      const inPlace = part(each);
      if (inPlace !== undefined) filler.inPlace.push(inPlace);
    }
    for (const [name, property] of named(place, "properties")) {
      filler.properties.set(name, part(property));
      if (name !== "__proto__" && hasKeywords(property) && Object.hasOwn(property.schema, "default")) {
        const value = property.schema["default"];
        filler.own.push({ name, place: property, value, steps: 4 + (JSON.stringify(value).length >> 1) });
      }
    }
    for (const [source, each] of named(place, "patternProperties"))
      filler.patterns.push([this.#context.pattern(source, each.path), part(each)]);
    filler.additional = part(at(place, "additionalProperties"));
    const { prefix, rest } = tuple(place);
    filler.prefix = prefix.map(part);
    filler.rest = part(rest);
  }

  findUseful(): void {
    const queue = this.#all.filter(({ own }) => own.length > 0);
    for (const filler of queue) {
      if (filler.fills) continue;
      filler.fills = true;
      queue.push(...filler.users);
    }
  }

  /** All defaults share the budget of one value: those that it does not reach are left out, too. */
  leaveOutUnfit(): void {
    const { limits, warnings } = this.#context;
    const unfit = new Set(this.#all.flatMap(({ own }) => own));
    within(
      limits,
      () => {
        for (const each of unfit) if (this.#conforms(each)) unfit.delete(each);
      },
      undefined,
    );
    if (unfit.size === 0) return;
    for (const filler of this.#all) filler.own = filler.own.filter((each) => !unfit.has(each));
    for (const { place } of unfit) {
      const path = `${place.path}/default`;
      const hint = "Correct it, or leave it out: it is not filled in.";
      warnings.push(
        new Refusal("DEFAULT_INVALID", "The default does not conform to its own schema.", path, hint).error,
      );
    }
  }

  /** As it is, or once what is below it is filled in. */
  #conforms({ place, value }: Default): boolean {
    const check: Check = this.#context.check(place);
    const copy = clone(value);
    if (check(copy)) return true;
    const filler = this.of(place);
    if (filler === undefined || !isCompound(copy)) return false;
    fill(filler, copy, this.#context.limits.valueDepth);
    return check(copy);
  }
}

function fill(filler: Filler, value: unknown, depth: number): void {
  if (!filler.fills || !isCompound(value)) return;
  // A default that brings itself in again would never end.
  if (depth < 0) throw EXHAUSTED;
  spend(1 + filler.own.length);
  if (!Array.isArray(value)) {
    for (const { name, value: missing, steps } of filler.own) {
      if (has(value, name)) continue;
      spend(steps);
      (value as Record<string, unknown>)[name] = clone(missing);
    }
  }
  for (const each of filler.inPlace) fill(each, value, depth);
  if (Array.isArray(value)) fillItems(filler, value, depth - 1);
  else fillMembers(filler, value, depth - 1);
}

function fillItems({ prefix, rest }: Filler, value: readonly unknown[], depth: number): void {
  spend(STEPS_PER_ITEM * value.length);
  for (let index = 0; index < value.length; index++) {
    const of = index < prefix.length ? prefix[index] : rest;
    if (of !== undefined) fill(of, value[index], depth);
  }
}

function fillMembers({ properties, patterns, additional }: Filler, value: JsonObject, depth: number): void {
  for (const name in value) {
    spend(STEPS_PER_MEMBER + patterns.length);
    let known = properties.has(name);
    const own = properties.get(name);
    if (own !== undefined) fill(own, value[name], depth);
    for (const [pattern, of] of patterns) {
      if (!pattern.matches(name)) continue;
      known = true;
      if (of !== undefined) fill(of, value[name], depth);
    }
    if (!known && additional !== undefined) fill(additional, value[name], depth);
  }
}
