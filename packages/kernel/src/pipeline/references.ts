import { isJsonArray, type JsonObject, type JsonValue } from "../json/json.ts";
import { escapeToken, pointerTokens, valueAt } from "../json/pointer.ts";

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
  if (isJsonArray(input)) return input.flatMap((each, i) => referencesIn(each, `${path}/${i}`));
  if (!Object.hasOwn(input, "$from"))
    return Object.entries(input).flatMap(([key, each]) => referencesIn(each, `${path}/${escapeToken(key)}`));
  return [readReference(input, path)];
}

/** The input with what its references name. `undefined`: the reference at `missing` names nothing. */
export function filledIn(
  input: JsonValue,
  outputs: ReadonlyMap<string, JsonValue>,
  missing: (path: string) => void,
  path = "",
): JsonValue {
  if (typeof input !== "object" || input === null) return input;
  if (isJsonArray(input)) return input.map((each, i) => filledIn(each, outputs, missing, `${path}/${i}`));
  if (Object.hasOwn(input, "$from")) {
    const reference = readReference(input, path);
    const value = "fault" in reference ? undefined : valueAt(outputs.get(reference.step), reference.pointer);
    if (value === undefined) missing(path);
    return value ?? null;
  }
  return Object.fromEntries(
    Object.entries(input).map(([key, each]) => [key, filledIn(each, outputs, missing, `${path}/${escapeToken(key)}`)]),
  );
}

function readReference(
  object: JsonObject,
  path: string,
): Reference | { readonly path: string; readonly fault: string } {
  const from = object["$from"];
  const [, step, tokens] = (typeof from === "string" && form.exec(from)) || [];
  if (step === undefined || tokens === undefined) return { path, fault: "a reference reads STEP#POINTER" };
  if (Object.keys(object).length > 1) return { path, fault: "a reference has no other properties" };
  return { step, pointer: pointerTokens(tokens), path };
}
