import { at, type Context, type Place, type Scope } from "../context.ts";
import { isObject } from "../resources.ts";
import type { Check, JsonObject } from "../types.ts";
import { tuple } from "./arrays.ts";

type Kind = "Items" | "Properties";

/** Adds what a schema evaluates of a valid value to `seen`: member names or indexes. True means all of it. */
export type Track = (value: unknown, seen: Set<string | number>) => boolean;

/**
 * What the specification collects as annotations is collected here only for schemas that ask, by a second walk over
 * the in-place subschemas of a value that is already known to be valid.
 */
export class Tracker {
  readonly #context: Context;
  readonly #memo = new Map<unknown, Map<Scope, Map<Kind, Track | undefined>>>();

  constructor(context: Context) {
    this.#context = context;
  }

  /** Undefined when the schema evaluates nothing of that kind. */
  track(schema: unknown, from: Place, kind: Kind): Track | undefined {
    if (!isObject(schema)) return undefined;
    const place = this.#context.locate(schema, from);
    let scopes = this.#memo.get(schema);
    if (scopes === undefined) this.#memo.set(schema, (scopes = new Map()));
    let kinds = scopes.get(place.scope);
    if (kinds === undefined) scopes.set(place.scope, (kinds = new Map()));
    if (!kinds.has(kind)) {
      kinds.set(kind, undefined); // a cycle of references ends here, and is refused later
      kinds.set(kind, this.#build(schema, place, kind, true));
    }
    return kinds.get(kind);
  }

  /** The check of `unevaluatedItems` or `unevaluatedProperties` of this schema; undefined when it has none. */
  unevaluated(schema: JsonObject, place: Place, kind: Kind): Check | undefined {
    const rest = schema[`unevaluated${kind}`];
    if (rest === undefined || rest === true) return undefined;
    const { check } = this.#context.child(rest, at(place, `unevaluated${kind}`));
    const track = this.#build(schema, place, kind, false);
    if (kind === "Items") {
      return (value) => {
        const seen = new Set<string | number>();
        if (track !== undefined && track(value, seen)) return true;
        return (value as unknown[]).every((item, index) => seen.has(index) || check(item));
      };
    }
    return (value) => {
      const seen = new Set<string | number>();
      if (track !== undefined && track(value, seen)) return true;
      for (const key in value as JsonObject) if (!seen.has(key) && !check((value as JsonObject)[key])) return false;
      return true;
    };
  }

  /** What of a valid value the other keywords of this schema evaluate. */
  evaluated(schema: JsonObject, place: Place, kind: Kind, value: unknown): { readonly whole: boolean; readonly seen: ReadonlySet<string | number> } {
    const seen = new Set<string | number>();
    return { whole: this.#build(schema, place, kind, false)?.(value, seen) === true, seen };
  }

  #build(schema: JsonObject, place: Place, kind: Kind, own: boolean): Track | undefined {
    const parts: Track[] = [];
    const add = (track: Track | undefined): void => void (track !== undefined && parts.push(track));
    const context = this.#context;
    const follow = (keyword: string, dynamic: boolean): void => {
      if (schema[keyword] === undefined) return;
      const target = context.follow(schema[keyword], dynamic, place);
      add(this.track(target.schema, target.place, kind));
    };
    follow("$ref", false);
    if (place.resource.dialect.year !== 7) follow("$dynamicRef", true);
    if (own && schema[`unevaluated${kind}`] !== undefined) return () => true;
    if (kind === "Items") this.#items(schema, place, add);
    else this.#properties(schema, place, add);
    this.#inPlace(schema, place, kind, add);
    if (parts.length === 0) return undefined;
    return (value, seen) => {
      let whole = false;
      for (const part of parts) whole = part(value, seen) || whole;
      return whole;
    };
  }

  #items(schema: JsonObject, place: Place, add: (track: Track) => void): void {
    const { prefix, rest } = tuple(schema, place);
    if (rest !== undefined) add(() => true);
    else if (prefix.length > 0) {
      add((value, seen) => {
        for (let index = 0; index < prefix.length; index++) seen.add(index);
        return (value as unknown[]).length <= prefix.length;
      });
    }
    if (schema["contains"] === undefined || place.resource.dialect.year !== 2020) return;
    const { check } = this.#context.child(schema["contains"], at(place, "contains"));
    add((value, seen) => {
      (value as unknown[]).forEach((item, index) => check(item) && seen.add(index));
      return false;
    });
  }

  #properties(schema: JsonObject, place: Place, add: (track: Track) => void): void {
    if (schema["additionalProperties"] !== undefined) return add(() => true);
    const keys = isObject(schema["properties"]) ? Object.keys(schema["properties"]) : [];
    if (keys.length > 0) {
      add((_value, seen) => {
        for (const key of keys) seen.add(key);
        return false;
      });
    }
    if (!isObject(schema["patternProperties"])) return;
    for (const source of Object.keys(schema["patternProperties"])) {
      const matches = this.#context.pattern(source, place.path);
      add((value, seen) => {
        for (const key in value as JsonObject) if (matches(key)) seen.add(key);
        return false;
      });
    }
  }

  #inPlace(schema: JsonObject, place: Place, kind: Kind, add: (track: Track | undefined) => void): void {
    const context = this.#context;
    const when = (branch: unknown, where: Place): Track | undefined => {
      const track = this.track(branch, where, kind);
      if (track === undefined) return undefined;
      const { check } = context.inPlace(branch, where);
      return (value, seen) => (context.budget.spend(1), check(value) && track(value, seen));
    };
    const list = (keyword: string): readonly unknown[] => (Array.isArray(schema[keyword]) ? (schema[keyword] as unknown[]) : []);
    for (const part of list("allOf")) add(this.track(part, place, kind));
    for (const keyword of ["anyOf", "oneOf"]) for (const branch of list(keyword)) add(when(branch, place));
    if (schema["if"] !== undefined) {
      const { check } = context.inPlace(schema["if"], place);
      const tested = this.track(schema["if"], place, kind);
      const yes = this.track(schema["then"], place, kind);
      const no = this.track(schema["else"], place, kind);
      add((value, seen) => {
        if (!check(value)) return no !== undefined && no(value, seen);
        const whole = tested !== undefined && tested(value, seen);
        return (yes !== undefined && yes(value, seen)) || whole;
      });
    }
    for (const keyword of ["dependentSchemas", "dependencies"]) {
      const map = schema[keyword];
      if (!isObject(map)) continue;
      for (const name of Object.keys(map)) {
        const track = this.track(map[name], place, kind);
        if (track !== undefined) add((value, seen) => Object.hasOwn(value as object, name) && track(value, seen));
      }
    }
  }
}
