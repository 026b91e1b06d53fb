/** A JSON value (RFC 8259). Read-only, so it also takes frozen data. */
export type JsonValue = string | number | boolean | null | JsonArray | JsonObject;
export type JsonArray = readonly JsonValue[];
export interface JsonObject {
  readonly [key: string]: JsonValue;
}

/** For functions that take JSON under types of its own: an interface has no index signature, so it is no {@link JsonObject} by itself. */
export type JsonLike<T> = T extends JsonValue | undefined
  ? T
  : T extends (...args: never) => unknown
    ? never
    : T extends object
      ? { readonly [Name in keyof T]: JsonLike<T[Name]> }
      : never;

/** For texts of our own. Foreign ones go through `parseJson`, which bounds them. */
export const parseOwnJson: (text: string) => JsonValue = JSON.parse;

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Unlike `Array.isArray`, which makes a list of `any` of a read-only one. */
export function isJsonArray(value: JsonValue | undefined): value is JsonArray {
  return Array.isArray(value);
}
