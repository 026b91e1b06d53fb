import { escapeToken, pointerTokens, valueAt } from "../json/pointer.ts";
import type { JsonObject, JsonValue } from "../json/json.ts";

/** `{ "$from": "STEP#POINTER" }`: the output of an earlier step, or a part of it (JSON Pointer, RFC 6901). */
export interface Reference {
  readonly step: string;
  readonly pointer: readonly string[];
  /** Where in the input it stands, as a JSON Pointer. */
  readonly path: string;
}

const form = /^([^#]+)#((?:\/(?:[^~/]|~[01])*)*)$/;

/** Every reference in an input, or what is wrong with one. */
export function referencesIn(
  input: JsonValue,
  path = "",
): readonly (Reference | { readonly path: string; readonly fault: string })[] {
  if (typeof input !== "object" || input === null) return [];
  if (Array.isArray(input)) return input.flatMap((each, i) => referencesIn(each as JsonValue, `${path}/${i}`));
  const object = input as JsonObject;
  if (!Object.hasOwn(object, "$from"))
    return Object.keys(object).flatMap((key) => referencesIn(object[key]!, `${path}/${escapeToken(key)}`));
  return [readReference(object, path)];
}

/** The input with what its references name. `undefined`: the reference at `missing` names nothing. */
export function filledIn(
  input: JsonValue,
  outputs: ReadonlyMap<string, JsonValue>,
  missing: (path: string) => void,
  path = "",
): JsonValue {
  if (typeof input !== "object" || input === null) return input;
  if (Array.isArray(input))
    return input.map((each, i) => filledIn(each as JsonValue, outputs, missing, `${path}/${i}`));
  const object = input as JsonObject;
  if (Object.hasOwn(object, "$from")) {
    const reference = readReference(object, path);
    const value = "fault" in reference ? undefined : valueAt(outputs.get(reference.step), reference.pointer);
    if (value === undefined) missing(path);
    return value ?? null;
  }
  return Object.fromEntries(
    Object.keys(object).map((key) => [key, filledIn(object[key]!, outputs, missing, `${path}/${escapeToken(key)}`)]),
  );
}

function readReference(
  object: JsonObject,
  path: string,
): Reference | { readonly path: string; readonly fault: string } {
  const from = object["$from"];
  const match = typeof from === "string" ? form.exec(from) : null;
  if (!match) return { path, fault: "a reference reads STEP#POINTER" };
  if (Object.keys(object).length > 1) return { path, fault: "a reference has no other properties" };
  const pointer = pointerTokens(match[2]!);
  return { step: match[1]!, pointer, path };
}
