import { isCompound, isObject } from "./equal.ts";
import type { Limits } from "./limits.ts";
import type { Default, Node } from "./node.ts";
import { Refusal } from "./refusal.ts";
import type { Anchored, Resource } from "./resources.ts";
import type { Check, JsonObject, CompileWithParts, Pattern } from "./types.ts";
import { escapeToken } from "../json/pointer.ts";

/** `$dynamicAnchor` name → the outermost subschema that carries it, on the way that led here. */
export type Scope = ReadonlyMap<string, Anchored>;

/** A place in a schema: what stands there, its resource, the dynamic scope, and the path for error messages. */
export interface Place<Schema = unknown> {
  /** Undefined where nothing stands. */
  readonly schema: Schema;
  readonly resource: Resource;
  readonly scope: Scope;
  readonly path: string;
}

/** The place of an object schema, whose keywords can be read. */
export type Keywords = Place<JsonObject>;

export const hasKeywords = (place: Place): place is Keywords => isObject(place.schema);

/** The compiler, as compilers of keywords use it. */
export interface Context {
  readonly limits: Limits;
  readonly options: CompileWithParts;
  /** All defaults; undefined once the schema is compiled. */
  readonly defaults: Default[] | undefined;
  /** The check of a schema, compiled when it is first asked for; for those who look at a value again. */
  check(place: Place): Check;
  /** The check of some keywords of a schema by themselves. */
  checkAlone(place: Keywords): Check;
  /** Whether nothing conforms to a schema, as far as that shows at once. */
  isNever(place: Place): boolean;
  /** A compiled pattern, once for each source. */
  pattern(source: string, path: string): Pattern;
  /** Compiles a subschema that applies to the same value: it consumes no input. */
  inPlace(place: Place): Node;
  /** Compiles a subschema that applies to a part of the value. */
  child(place: Place): Node;
  /** The place of a subschema, which may begin a resource of its own, with the keywords that its dialect has. */
  locate(place: Keywords): Keywords;
  /** Where `$ref` or `$dynamicRef` leads. */
  follow(place: Keywords, keyword: string): Place;
}

/** The place of one member or item. */
export const at = ({ schema, resource, scope, path }: Place, token: string | number): Place => ({
  schema: isCompound(schema) && Object.hasOwn(schema, token) ? schema[token] : undefined,
  resource,
  scope,
  path: `${path}/${escapeToken(String(token))}`,
});

export function invalid(place: Place, keyword: string, expected: string): Refusal {
  return new Refusal("KEYWORD_INVALID", `The keyword ${keyword} must be ${expected}.`, at(place, keyword).path);
}

const isCount = (value: unknown): value is number => typeof value === "number" && Number.isInteger(value) && value >= 0;
const isNumber = (value: unknown): value is number => typeof value === "number";
const isText = (value: unknown): value is string => typeof value === "string";
const isNames = (value: unknown): value is readonly string[] => Array.isArray(value) && value.every(isText);

/** Reads a keyword of one kind; undefined where it is missing. */
const reader =
  <Value>(is: (value: unknown) => value is Value, expected: string) =>
  (place: Keywords, keyword: string): Value | undefined => {
    const value = place.schema[keyword];
    if (value !== undefined && !is(value)) throw invalid(place, keyword, expected);
    return value;
  };

type Reader<Value> = (place: Keywords, keyword: string) => Value | undefined;
/** `2.0` is an integer, too. */
export const count: Reader<number> = reader(isCount, "a non-negative integer");
export const numeric: Reader<number> = reader(isNumber, "a number");
export const text: Reader<string> = reader(isText, "a string");
export const names: Reader<readonly string[]> = reader(isNames, "an array of strings");
const array: Reader<readonly unknown[]> = reader(Array.isArray, "an array of schemas");
const object: Reader<JsonObject> = reader(isObject, "an object of schemas");

/** The subschemas in an array. */
export function listed(place: Keywords, keyword: string): readonly Place[] {
  const items = array(place, keyword);
  if (items === undefined) return [];
  const list = at(place, keyword);
  return items.map((_, index) => at(list, index));
}

/** The subschemas in an object, by name. */
export function named(place: Keywords, keyword: string): readonly (readonly [name: string, place: Place])[] {
  const members = object(place, keyword);
  if (members === undefined) return [];
  const map = at(place, keyword);
  return Object.keys(members).map((name) => [name, at(map, name)]);
}
