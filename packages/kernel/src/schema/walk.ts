import { spend } from "./budget.ts";
import { at, type Context, type Keywords, listed, named, type Place } from "./context.ts";
import { isObject, names } from "./equal.ts";
import { tuple } from "./keywords/arrays.ts";

/** A subschema that a schema applies to a value or to a part of it. */
export interface Part {
  readonly keyword: string;
  /** The way from the schema to the subschema, as a piece of a JSON Pointer. */
  readonly step: string;
  readonly place: Place;
  readonly value: unknown;
  /** The member or index that the part is; undefined for the value itself. */
  readonly token: string | number | undefined;
  /** True where a valid value need not conform to the subschema. */
  readonly branch: boolean;
}

type Add = (place: Place, branch: boolean, value: unknown, token?: string | number) => void;

/** Of one object or array: more members are not explained. */
const EXPLAINED_MEMBERS = 1_000;
/** An explanation has some ten thousand parts, which take some tens of milliseconds. */
const EXPLAINED_PART_STEPS = 200;
/** All keywords that could apply to it are looked up. */
const STEPS_PER_ITEM = 12;
const STEPS_PER_MEMBER = 40;

/** {@link parts}, for an explanation: only of the first members, and each part is paid. */
export function explainedParts(from: Keywords, value: unknown, context: Context): readonly Part[] {
  return parts(from, value, context, EXPLAINED_MEMBERS, () => spend(EXPLAINED_PART_STEPS));
}

/**
 * All subschemas that a schema applies to a value, whether or not the value conforms; those of `unevaluated…` for every
 * part of it.
 *
 * @param most members or items
 * @param pay called before each part
 */
export function parts(
  from: Keywords,
  value: unknown,
  context: Context,
  most: number = Infinity,
  pay: () => void = () => {},
): readonly Part[] {
  const out: Part[] = [];
  const { schema } = from;
  for (const keyword of ["$ref", "$dynamicRef"]) {
    if (schema[keyword] === undefined) continue;
    out.push({ keyword, step: keyword, place: context.follow(from, keyword), value, token: undefined, branch: false });
  }
  const add: Add = (place, branch, part, token) => {
    const step = place.path.slice(from.path.length + 1);
    const [keyword = ""] = step.split("/", 1);
    if (place.schema === undefined) return;
    pay();
    out.push({ keyword, step, place, value: part, token, branch });
  };
  for (const keyword of ["allOf", "anyOf", "oneOf"])
    for (const place of listed(from, keyword)) add(place, keyword !== "allOf", value);
  const test = at(from, "if");
  if (test.schema !== undefined) {
    const holds = context.check(test)(value);
    if (holds) add(test, true, value);
    add(at(from, holds ? "then" : "else"), true, value);
  }
  if (Array.isArray(value)) arrayParts(from, value, most, add);
  else if (isObject(value)) objectParts(from, value, most, context, add);
  return out;
}

function arrayParts(from: Keywords, value: readonly unknown[], most: number, add: Add): void {
  const { prefix, rest } = tuple(from);
  (value.length > most ? value.slice(0, most) : value).forEach((item, index) => {
    spend(STEPS_PER_ITEM);
    add(prefix[index] ?? rest, false, item, index);
    add(at(from, "contains"), true, item, index);
    add(at(from, "unevaluatedItems"), false, item, index);
  });
}

function objectParts(
  from: Keywords,
  value: Readonly<Record<string, unknown>>,
  most: number,
  context: Context,
  add: Add,
): void {
  const patterns = named(from, "patternProperties");
  const members = names(value);
  for (const name of members.length > most ? members.slice(0, most) : members) {
    spend(STEPS_PER_MEMBER + patterns.length);
    const member = value[name];
    const own = [
      at(at(from, "properties"), name),
      ...patterns.flatMap(([source, place]) => (context.pattern(source, place.path).matches(name) ? place : [])),
    ].filter(({ schema }) => schema !== undefined);
    for (const place of own.length > 0 ? own : [at(from, "additionalProperties")]) add(place, false, member, name);
    add(at(from, "unevaluatedProperties"), false, member, name);
    add(at(from, "propertyNames"), false, name, name);
    for (const keyword of ["dependentSchemas", "dependencies"]) {
      const dependent = at(at(from, keyword), name);
      if (!Array.isArray(dependent.schema)) add(dependent, true, value);
    }
  }
}
