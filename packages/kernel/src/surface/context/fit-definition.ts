import { isJsonObject, type JsonObject, type JsonValue } from "../../json/json.ts";
import { byteLength, largestCount } from "./fit-text.ts";

/** The definition of a tool for a model. */
export interface ModelDefinition {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: JsonObject;
}

export type FitDefinition =
  | { readonly ok: true; readonly value: ModelDefinition }
  /** `leastBytes`: of the definition without any text that can be left out. */
  | { readonly ok: false; readonly leastBytes: number };

/** UTF-8 bytes of a definition, as JSON. */
export function definitionBytes({ name, description, inputSchema }: ModelDefinition): number {
  return byteLength(JSON.stringify({ name, description, inputSchema }));
}

/** The least that is left of a description, in UTF-16 units. */
const leastDescription = 40;

/**
 * A definition in at most `limitBytes`. Texts go, and never what decides which input is valid: first annotations, then all but the first sentences of the schema's descriptions, then
 * these descriptions, then the end of the tool's description.
 *
 * @example
 * const fitted = fitDefinition({ name, description, inputSchema }, 1_024);
 */
export function fitDefinition(definition: ModelDefinition, limitBytes: number): FitDefinition {
  const { name, description, inputSchema } = definition;
  let last = definition;
  for (const texts of [(text: string) => text, firstSentence, () => undefined]) {
    if (definitionBytes(last) <= limitBytes) return { ok: true, value: last };
    last = { name, description, inputSchema: schemaWith(inputSchema, texts) };
  }
  if (definitionBytes(last) <= limitBytes) return { ok: true, value: last };
  const cutAt = (length: number): ModelDefinition => ({ ...last, description: cut(description, length) });
  const length = largestCount(description.length - 1, limitBytes, (each) => JSON.stringify(cutAt(each)));
  if (length === undefined || length < Math.min(leastDescription, description.length))
    return { ok: false, leastBytes: definitionBytes(cutAt(leastDescription)) };
  return { ok: true, value: cutAt(length) };
}

function cut(text: string, length: number): string {
  return text.length <= length ? text : `${text.slice(0, length).toWellFormed()}…`;
}

function firstSentence(text: string): string {
  return /^[^]*?[.!?](?=\s|$)/.exec(text)?.[0] ?? text;
}

const annotations: ReadonlySet<string> = new Set(["$comment", "examples", "title", "$schema"]);
const schemasByName: ReadonlySet<string> = new Set([
  "properties",
  "patternProperties",
  "$defs",
  "definitions",
  "dependentSchemas",
]);
const schemaLists: ReadonlySet<string> = new Set(["allOf", "anyOf", "oneOf", "prefixItems"]);
const singleSchemas: ReadonlySet<string> = new Set([
  "additionalItems",
  "additionalProperties",
  "contains",
  "else",
  "if",
  "items",
  "not",
  "propertyNames",
  "then",
  "unevaluatedItems",
  "unevaluatedProperties",
]);

type Texts = (text: string) => string | undefined;

/** The schema with other texts. Keeps every keyword that it does not know, and values in `const`, `enum` and `default`. */
function schemaWith(schema: JsonObject, texts: Texts): JsonObject {
  const kept = Object.entries(schema).flatMap<[string, JsonValue]>(([keyword, value]) => {
    if (annotations.has(keyword)) return [];
    if (keyword === "description") {
      const text = typeof value === "string" ? texts(value) : undefined;
      return text === undefined ? [] : [[keyword, text]];
    }
    return [[keyword, subschemasWith(keyword, value, texts)]];
  });
  return Object.fromEntries(kept);
}

function subschemasWith(keyword: string, value: JsonValue, texts: Texts): JsonValue {
  const each = (part: JsonValue): JsonValue => (isJsonObject(part) ? schemaWith(part, texts) : part);
  if (schemaLists.has(keyword) || (keyword === "items" && Array.isArray(value)))
    return Array.isArray(value) ? value.map(each) : value;
  if (singleSchemas.has(keyword)) return each(value);
  if (!schemasByName.has(keyword) || !isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, each(part)]));
}
