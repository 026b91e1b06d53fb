import { escapeToken } from "./uri.ts";

/** Why a value is not JSON data; `path` is a JSON Pointer. */
export interface NotJson {
  readonly path: string;
  readonly keyword: "json" | "limit";
  readonly expected: string;
  readonly received: string;
  readonly hint?: string;
}

/** Names what `typeof` and JSON do not: `a Date`, `an instance of Foo`, `the number NaN`. */
function describeForeign(value: unknown): string {
  if (typeof value === "number") return `the number ${value}`;
  if (typeof value !== "object" || value === null) return value === undefined ? "undefined" : `a ${typeof value}`;
  const tag = Object.prototype.toString.call(value).slice(8, -1);
  return tag === "Object" ? "an instance of a class" : `a ${tag.slice(0, 40)}`;
}

const isPlain = (value: object): boolean => {
  const prototype: unknown = Object.getPrototypeOf(value);
  // A prototype without a prototype is some realm's Object.prototype, or as harmless: only own data is copied.
  return prototype === null || Object.getPrototypeOf(prototype) === null;
};

/**
 * Copies JSON data, reading each property of the source once: own, enumerable, string-keyed data. Accessors are
 * refused without being run. The copy shares nothing with the source, so what was checked is what is used.
 */
export function snapshot(
  source: unknown,
  limits: { readonly valueDepth: number; readonly valueNodes: number },
): { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly reason: NotJson } {
  let nodes = 0;
  const tokens: (string | number)[] = [];
  const refuse = (keyword: NotJson["keyword"], expected: string, received: string, hint?: string): never => {
    const path = tokens.map((token) => `/${escapeToken(String(token))}`).join("");
    throw new Found(
      hint === undefined ? { path, keyword, expected, received } : { path, keyword, expected, received, hint },
    );
  };
  const copy = (value: unknown): unknown => {
    if (++nodes > limits.valueNodes) refuse("limit", `at most ${limits.valueNodes} JSON values`, "more");
    if (typeof value === "string" || typeof value === "boolean" || value === null) return value;
    if (typeof value === "number" && Number.isFinite(value)) return value;
    if (typeof value !== "object" || !(Array.isArray(value) || isPlain(value))) {
      return refuse("json", "a JSON value", describeForeign(value), foreignHint(value));
    }
    if (tokens.length >= limits.valueDepth) refuse("limit", `at most ${limits.valueDepth} levels of nesting`, "more");
    return Array.isArray(value) ? copyArray(value) : copyObject(value);
  };
  const read = (from: object, key: string | number): unknown => {
    tokens.push(key);
    const property = Object.getOwnPropertyDescriptor(from, key);
    if (property === undefined)
      return refuse("json", "an array without holes", "a hole", "Put null where there is no item.");
    if (!("value" in property)) return refuse("json", "plain data", "an accessor");
    const result = copy(property.value);
    tokens.pop();
    return result;
  };
  const copyArray = (from: readonly unknown[]): unknown[] => {
    const length = from.length;
    if (nodes + length > limits.valueNodes) refuse("limit", `at most ${limits.valueNodes} JSON values`, "more");
    const to: unknown[] = [];
    for (let index = 0; index < length; index++) to.push(read(from, index));
    return to;
  };
  const copyObject = (from: object): object => {
    const to: Record<string, unknown> = {};
    for (const key of Object.keys(from)) {
      if (key === "__proto__")
        refuse("json", "an object without a __proto__ member", "one with it", "Rename or remove __proto__.");
      to[key] = read(from, key);
    }
    return to;
  };
  try {
    return { ok: true, value: copy(source) };
  } catch (thrown) {
    if (thrown instanceof Found) return { ok: false, reason: thrown.reason };
    // A proxy's trap or a revoked proxy: foreign code, whatever it threw.
    return {
      ok: false,
      reason: { path: "", keyword: "json", expected: "plain data", received: "an object that throws when read" },
    };
  }
}

class Found {
  readonly reason: NotJson;
  constructor(reason: NotJson) {
    this.reason = reason;
  }
}

function foreignHint(value: unknown): string | undefined {
  if (value instanceof Date) return "Use an ISO 8601 string.";
  if (typeof value === "bigint") return "Use a number or a decimal string.";
  if (value === undefined) return "Leave the member out, or use null.";
  return undefined;
}
