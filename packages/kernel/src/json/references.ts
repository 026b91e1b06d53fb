import { isJsonArray, type JsonObject, type JsonValue } from "./json.ts";
import { escapeToken, pointerTokens, valueAt } from "./pointer.ts";
import { hasOwn } from "../support/guards.ts";

/** `{ "$from": "SOURCE#POINTER" }`: a value that a name stands for, or a part of it (JSON Pointer, RFC 6901). */
export interface Reference {
  readonly source: string;
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

/**
 * A value with its references replaced. It omits a member or element with an unresolved reference,
 * and passes its place to `missing`.
 */
export function filledIn(
  value: JsonValue,
  sources: ReadonlyMap<string, JsonValue>,
  missing: (path: string) => void = () => {},
  path = "",
): JsonValue | undefined {
  if (typeof value !== "object" || value === null) return value;
  if (isJsonArray(value))
    return value
      .map((each, i) => filledIn(each, sources, missing, `${path}/${i}`))
      .filter((each) => each !== undefined);
  if (Object.hasOwn(value, "$from")) {
    const reference = readReference(value, path);
    const found = hasOwn(reference, "fault") ? undefined : valueAt(sources.get(reference.source), reference.pointer);
    if (found === undefined) missing(path);
    return found;
  }
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, each]) => {
      const filled = filledIn(each, sources, missing, `${path}/${escapeToken(key)}`);
      return filled === undefined ? [] : [[key, filled]];
    }),
  );
}

function readReference(
  object: JsonObject,
  path: string,
): Reference | { readonly path: string; readonly fault: string } {
  const from = object["$from"];
  const [, source, tokens] = (typeof from === "string" && form.exec(from)) || [];
  if (source === undefined || tokens === undefined) return { path, fault: "a reference reads SOURCE#POINTER" };
  if (Object.keys(object).length > 1) return { path, fault: "a reference has no other properties" };
  return { source, pointer: pointerTokens(tokens), path };
}
