import { at, type Context, type Place } from "./context.ts";
import { tuple } from "./keywords/arrays.ts";
import { isObject } from "./equal.ts";
import type { JsonObject } from "./types.ts";
import { escapeToken } from "./uri.ts";

/** A subschema that a schema applies to a value or to a part of it. */
export interface Part {
  readonly keyword: string;
  /** The way from the schema to the subschema, as a piece of a JSON Pointer. */
  readonly step: string;
  readonly schema: unknown;
  readonly place: Place;
  readonly value: unknown;
  /** The member or index that the part is; undefined for the value itself. */
  readonly token: string | number | undefined;
  /** True where a valid value need not conform to the subschema. */
  readonly branch: boolean;
}

/**
 * All subschemas that a schema applies to a value, whether or not the value conforms; those of `unevaluated…` for every
 * part of it.
 */
export function parts(schema: JsonObject, place: Place, value: unknown, context: Context): readonly Part[] {
  const out: Part[] = [];
  const add = (
    keyword: string,
    step: string,
    sub: unknown,
    part: unknown = value,
    token?: string | number,
    branch = false,
  ): void => {
    // Draft 7 does not know these, and whatever stands there was never compiled.
    const known = place.resource.dialect.year !== 7 || !/^(unevaluated|dependentS)/.test(keyword);
    if (sub !== undefined && known)
      out.push({ keyword, step, schema: sub, place: at(place, step), value: part, token, branch });
  };
  for (const keyword of ["$ref", "$dynamicRef"]) {
    if (schema[keyword] === undefined || (keyword === "$dynamicRef" && place.resource.dialect.year === 7)) continue;
    const target = context.follow(schema[keyword], keyword === "$dynamicRef", place);
    out.push({ keyword, step: keyword, ...target, value, token: undefined, branch: false });
    if (place.resource.dialect.year === 7) return out;
  }
  for (const keyword of ["allOf", "anyOf", "oneOf"]) {
    const list = schema[keyword];
    if (Array.isArray(list))
      list.forEach((sub, index) => add(keyword, `${keyword}/${index}`, sub, value, undefined, keyword !== "allOf"));
  }
  if (schema["if"] !== undefined) {
    const holds = context.check(schema["if"], at(place, "if"))(value);
    if (holds) add("if", "if", schema["if"], value, undefined, true);
    const step = holds ? "then" : "else";
    add("if", step, schema[step], value, undefined, true);
  }
  if (Array.isArray(value)) arrayParts(schema, place, value, add);
  else if (isObject(value)) objectParts(schema, place, value, context, add);
  return out;
}

type Add = (
  keyword: string,
  step: string,
  sub: unknown,
  part?: unknown,
  token?: string | number,
  branch?: boolean,
) => void;

function arrayParts(schema: JsonObject, place: Place, value: readonly unknown[], add: Add): void {
  const { prefix, prefixKey, rest, restKey } = tuple(schema, place);
  value.forEach((item, index) => {
    if (index < prefix.length) add(prefixKey, `${prefixKey}/${index}`, prefix[index], item, index);
    else add(restKey, restKey, rest, item, index);
    add("contains", "contains", schema["contains"], item, index, true);
    add("unevaluatedItems", "unevaluatedItems", schema["unevaluatedItems"], item, index);
  });
}

function objectParts(schema: JsonObject, place: Place, value: JsonObject, context: Context, add: Add): void {
  const map = (keyword: string): JsonObject => (isObject(schema[keyword]) ? schema[keyword] : {});
  const properties = map("properties");
  const patterns = Object.keys(map("patternProperties"));
  for (const name of Object.keys(value)) {
    const own = Object.hasOwn(properties, name);
    if (own) add("properties", `properties/${escapeToken(name)}`, properties[name], value[name], name);
    const matching = patterns.filter((source) => context.pattern(source, place.path)(name));
    for (const source of matching)
      add(
        "patternProperties",
        `patternProperties/${escapeToken(source)}`,
        map("patternProperties")[source],
        value[name],
        name,
      );
    if (!own && matching.length === 0)
      add("additionalProperties", "additionalProperties", schema["additionalProperties"], value[name], name);
    add("unevaluatedProperties", "unevaluatedProperties", schema["unevaluatedProperties"], value[name], name);
    add("propertyNames", "propertyNames", schema["propertyNames"], name, name);
    for (const keyword of ["dependentSchemas", "dependencies"]) {
      const sub = Object.hasOwn(map(keyword), name) ? map(keyword)[name] : undefined;
      if (!Array.isArray(sub)) add(keyword, `${keyword}/${escapeToken(name)}`, sub, value, undefined, true);
    }
  }
}
