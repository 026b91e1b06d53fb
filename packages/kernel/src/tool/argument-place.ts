import { isJsonArray, isJsonObject, type JsonValue } from "../json/json.ts";
import { pointerTokens } from "../json/pointer.ts";

/**
 * Why no valid input has a text at a JSON Pointer, as the end of a sentence. Only what the schema surely rules out is a fault: a reference or a pattern is
 * not followed.
 */
export function argumentFault(schema: JsonValue, pointer: string): string | undefined {
  return placeFault(schema, pointerTokens(pointer));
}

function placeFault(schema: JsonValue, tokens: readonly string[]): string | undefined {
  if (schema === false) return "the schema of the input allows no value there";
  if (!isJsonObject(schema)) return undefined;
  return ownFault(schema, tokens) ?? combinedFault(schema, tokens);
}

type Schema = Readonly<Record<string, JsonValue>>;

function ownFault(schema: Schema, tokens: readonly string[]): string | undefined {
  const [token, ...rest] = tokens;
  if (token === undefined) return hasText(schema) ? undefined : "the schema of the input allows no text there";
  const [own, closed] = has(schema, "object") ? memberIn(schema, token) : [undefined, true];
  const [item, ended] = has(schema, "array") ? itemIn(schema, token) : [undefined, true];
  if (own !== undefined || item !== undefined) {
    const faults = [own, item].flatMap((each) => (each === undefined ? [] : [placeFault(each, rest)]));
    return faults.includes(undefined) || !(closed && ended) ? undefined : faults[0];
  }
  return closed && ended ? "the schema of the input has no such place" : undefined;
}

/** The schema of a member, and whether the member has no other one. */
function memberIn(schema: Schema, token: string): readonly [schema: JsonValue | undefined, closed: boolean] {
  const { properties = {}, additionalProperties, patternProperties } = schema;
  if (isJsonObject(properties) && Object.hasOwn(properties, token)) return [properties[token], true];
  return [undefined, additionalProperties === false && patternProperties === undefined];
}

function itemIn(
  { prefixItems, items }: Schema,
  token: string,
): readonly [schema: JsonValue | undefined, closed: boolean] {
  if (!/^(?:0|[1-9]\d*)$/.test(token)) return [undefined, true];
  const own = isJsonArray(prefixItems) ? prefixItems[Number(token)] : undefined;
  return [own ?? items, items === false || own !== undefined || items !== undefined];
}

function has({ type }: Schema, name: string): boolean {
  return type === undefined || type === name || (Array.isArray(type) && type.includes(name));
}

function hasText(schema: Schema): boolean {
  const { enum: values, const: only } = schema;
  const isText = (value: JsonValue): boolean => typeof value === "string";
  return (
    has(schema, "string") &&
    (only === undefined || isText(only)) &&
    (!Array.isArray(values) || (values as readonly JsonValue[]).some(isText))
  );
}

/** `allOf` rules out what one of its parts does; `anyOf` and `oneOf` what all of them do. */
function combinedFault(schema: Schema, tokens: readonly string[]): string | undefined {
  const faultsOf = (name: string): readonly (string | undefined)[] => {
    const parts = schema[name];
    return Array.isArray(parts) ? parts.map((each: JsonValue) => placeFault(each, tokens)) : [];
  };
  const [any, one] = [faultsOf("anyOf"), faultsOf("oneOf")];
  return (
    faultsOf("allOf").find((fault) => fault !== undefined) ??
    (any.includes(undefined) ? undefined : any[0]) ??
    (one.includes(undefined) ? undefined : one[0])
  );
}
