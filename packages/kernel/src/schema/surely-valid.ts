import { attempt } from "./attempt.ts";
import { isCompound, isObject } from "./equal.ts";
import { DEFAULT_LIMITS } from "./limits.ts";
import { Patterns } from "./patterns.ts";
import type { CompileWithParts, JsonObject } from "./types.ts";

// Together far below the limits of a schema.
const MOST_SUBSCHEMAS = 200;
const MOST_LEVELS = 32;
const MOST_ITEMS = 64;

type Test = (value: unknown) => boolean;

const isText: Test = (value) => typeof value === "string";
const isNumber: Test = (value) => typeof value === "number";
const isCount: Test = (value) => typeof value === "number" && Number.isInteger(value) && value >= 0;
const isScalar: Test = (value) => !isCompound(value);
const isItems = (value: unknown, of: Test): boolean =>
  Array.isArray(value) && value.length <= MOST_ITEMS && value.every(of);
const isList = (value: unknown, of: Test): boolean => Array.isArray(value) && value.length > 0 && isItems(value, of);
const isFlat: Test = (value) =>
  isScalar(value) || isItems(value, isScalar) || (isObject(value) && Object.keys(value).length === 0);

const types = new Set<unknown>(["null", "boolean", "number", "integer", "string", "array", "object"]);
const isType: Test = (value) => types.has(value);
const dialects = new Set<unknown>([
  "https://json-schema.org/draft/2020-12/schema",
  "http://json-schema.org/draft-07/schema#",
]);

/** Tests of the values of keywords that hold no schema. */
const valueTests: ReadonlyMap<string, Test> = new Map<string, Test>([
  ["$schema", (value) => dialects.has(value)],
  ["type", (value) => isType(value) || isList(value, isType)],
  ["enum", (value) => isList(value, isScalar)],
  ["required", (value) => isItems(value, isText)],
  ["uniqueItems", isScalar],
  ["multipleOf", (value) => typeof value === "number" && value > 0],
  ...(
    [
      [isNumber, "minimum maximum exclusiveMinimum exclusiveMaximum"],
      [isCount, "minLength maxLength minItems maxItems minProperties maxProperties"],
      [isFlat, "const default examples"],
      [isScalar, "title description $comment deprecated readOnly writeOnly"],
    ] as const
  ).flatMap(([test, names]) => names.split(" ").map((name): [string, Test] => [name, test])),
]);

/** Only names that a pointer writes as they are. */
const reference = /^#\/(\$defs|definitions)\/([\w.-]+)$/;

/**
 * Whether the compiler takes a schema for sure, told by one look at each keyword. Holds for usual schemas only: of the others
 * just the compiler knows.
 *
 * @param schema JSON data
 */
export function isSurelyValid(schema: JsonObject, options: CompileWithParts): boolean {
  return new Look(schema, options).isSure(schema, 0, false);
}

class Look {
  readonly #root: JsonObject;
  readonly #options: CompileWithParts;
  readonly #patterns: Patterns;
  #left = MOST_SUBSCHEMAS;

  constructor(root: JsonObject, options: CompileWithParts) {
    this.#root = root;
    this.#options = options;
    this.#patterns = new Patterns(DEFAULT_LIMITS, options.trusted === true, options.linearPatterns);
  }

  /** @param isTarget Whether a reference leads here, or to a schema of the same value around it. */
  isSure(schema: unknown, level: number, isTarget: boolean): boolean {
    if (--this.#left < 0 || level > MOST_LEVELS) return false;
    if (typeof schema === "boolean") return true;
    if (!isObject(schema)) return false;
    for (const keyword of Object.keys(schema)) {
      const value = schema[keyword];
      const test = valueTests.get(keyword);
      if (!(test === undefined ? this.#holds(keyword, value, level, isTarget) : test(value))) return false;
    }
    return true;
  }

  #holds(keyword: string, value: unknown, level: number, isTarget: boolean): boolean {
    const inner = level + 1;
    switch (keyword) {
      case "properties":
        return this.#areSure(value, inner, false);
      case "patternProperties":
        return this.#areSure(value, inner, false) && isObject(value) && Object.keys(value).every(this.#isPattern);
      case "items":
      case "additionalProperties":
      case "propertyNames":
        return this.isSure(value, inner, false);
      case "allOf":
      case "anyOf":
      case "oneOf":
        return isList(value, (each) => this.isSure(each, inner, isTarget));
      case "not":
        return this.isSure(value, inner, isTarget);
      case "$defs":
      case "definitions":
        return level === 0 && this.#areSure(value, inner, true);
      case "$ref":
        // References that lead from one to the next within one value can form a cycle.
        return !isTarget && this.#leadsSomewhere(value);
      case "pattern":
        return this.#isPattern(value);
      case "format":
        return typeof value === "string" && attempt(() => [this.#options.formatOf(value, "")]) !== undefined;
      default:
        return false;
    }
  }

  #areSure(map: unknown, level: number, isTarget: boolean): boolean {
    if (!isObject(map)) return false;
    for (const name of Object.keys(map)) if (!this.isSure(map[name], level, isTarget)) return false;
    return true;
  }

  readonly #isPattern = (source: unknown): boolean =>
    typeof source === "string" && attempt(() => this.#patterns.get(source, "")) !== undefined;

  #leadsSomewhere(value: unknown): boolean {
    const [, keyword = "", name = ""] = reference.exec(String(value)) ?? [];
    const map = this.#root[keyword];
    return isObject(map) && Object.hasOwn(map, name);
  }
}
