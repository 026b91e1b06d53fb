import { failure } from "./failure.ts";
import type { ValidationError } from "./types.ts";
import { escapeToken } from "./uri.ts";

/** Why a value is not JSON data, and what a schema is refused with for the same reason. */
export interface NotJson {
  readonly ok: false;
  readonly error: ValidationError;
  readonly code: Code;
}

type Code = "SCHEMA_NOT_JSON" | "SCHEMA_TOO_DEEP" | "SCHEMA_TOO_LARGE";

const notJson = (
  path: string,
  expected: string,
  received: string,
  hint?: string,
  code: Code = "SCHEMA_NOT_JSON",
): NotJson => ({
  ok: false,
  error: failure(path, "", "", code === "SCHEMA_NOT_JSON" ? "json" : "limit", expected, received, hint),
  code,
});

const HINTS: ReadonlyMap<string, string> = new Map([
  ["Date", "Use an ISO 8601 string."],
  ["BigInt", "Use a number or a decimal string."],
  ["Undefined", "Leave it out, or use null."],
]);

/** A prototype without a prototype is some realm's Object.prototype, or as harmless: only own data is copied. */
const isPlain = (value: object): boolean => {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
};

/**
 * Copies JSON data, reading each property of the source once: own, enumerable, string-keyed data. Accessors are
 * refused without being run. The copy shares nothing with the source, so what was checked is what is used.
 *
 * `onMember`, for schemas, hears of each member of an object. A schema may have members `__proto__`, which are copied as
 * data; a value may not, since it goes on to code that we do not know.
 */
export function snapshot(
  source: unknown,
  maxDepth: number,
  maxNodes: number,
  onMember?: (key: string) => void,
): { readonly ok: true; readonly value: unknown } | NotJson {
  let nodes = 0;
  let reason: NotJson | undefined;
  const tokens: (string | number)[] = [];
  /** Leaves from any depth; what is thrown does not matter. */
  const refuse = (...why: [expected: string, received: string, hint?: string | undefined, code?: Code]): never => {
    reason = notJson(tokens.map((token) => `/${escapeToken(String(token))}`).join(""), ...why);
    throw reason;
  };
  const count = (more: number): void => {
    if ((nodes += more) > maxNodes) refuse(`at most ${maxNodes} values`, "more", undefined, "SCHEMA_TOO_LARGE");
  };
  const copy = (value: unknown): unknown => {
    if (typeof value === "string" || typeof value === "boolean" || value === null || Number.isFinite(value))
      return value;
    if (typeof value !== "object" || !(Array.isArray(value) || isPlain(value))) {
      const tag = Object.prototype.toString.call(value).slice(8, -1);
      const name = tag === "Object" ? "an instance of a class" : `a ${tag.slice(0, 40)}`;
      const received = typeof value === "number" ? `the number ${value}` : value === undefined ? "undefined" : name;
      return refuse("a JSON value", received, HINTS.get(tag));
    }
    if (tokens.length >= maxDepth) refuse(`at most ${maxDepth} levels`, "more", undefined, "SCHEMA_TOO_DEEP");
    return Array.isArray(value) ? copyArray(value) : copyObject(value);
  };
  const read = (from: object, key: string | number, mayMiss = false): unknown => {
    tokens.push(key);
    const property = Object.getOwnPropertyDescriptor(from, key);
    const proto = key === "__proto__" && onMember === undefined;
    if (proto || property === undefined || !("value" in property))
      return refuse("plain data", property === undefined ? "a hole" : proto ? key : "an accessor");
    const result = mayMiss && property.value === undefined ? undefined : copy(property.value);
    tokens.pop();
    return result;
  };
  const copyArray = (from: readonly unknown[]): unknown[] => {
    const { length } = from;
    count(length);
    const to: unknown[] = [];
    for (let index = 0; index < length; index++) to.push(read(from, index));
    return to;
  };
  const copyObject = (from: object): object => {
    const to: Record<string, unknown> = {};
    const keys = Object.keys(from);
    count(keys.length);
    for (const key of keys) {
      const value = read(from, key, onMember === undefined);
      // A member that is undefined is absent, as in JSON text.
      if (value === undefined) continue;
      if (key === "__proto__") Object.defineProperty(to, key, { value, enumerable: true });
      else to[key] = value;
      onMember?.(key);
    }
    return to;
  };
  try {
    count(1);
    return { ok: true, value: copy(source) };
  } catch {
    // Without a reason it was foreign code that threw: a trap of a proxy, or a revoked one.
    return reason ?? notJson("", "plain data", "an object that throws when it is read");
  }
}
