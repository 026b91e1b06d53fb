import { failure } from "./failure.ts";
import type { ValidationError } from "./types.ts";
import { escapeToken } from "../json/pointer.ts";
import { hasOwn } from "../support/guards.ts";

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
  return prototype === Object.prototype || prototype === null || Object.getPrototypeOf(prototype) === null;
};

const isScalar = (value: unknown): boolean =>
  typeof value === "string" || typeof value === "boolean" || value === null || Number.isFinite(value);

type OnMember = ((key: string) => void) | undefined;

/**
 * Copies JSON data, reading each property of the source once: own, enumerable, string-keyed data. Accessors are
 * refused without being run. The copy shares nothing with the source, so what was checked is what is used.
 *
 * `onMember`, for schemas, receives each key of an object. A schema may have members `__proto__`,
 * which are copied as data. A value may not, because unknown code receives it. In a value a member
 * that is undefined is absent, as in JSON text.
 */
export function snapshot(
  source: unknown,
  maxDepth: number,
  maxNodes: number,
  onMember?: (key: string) => void,
): { readonly ok: true; readonly value: unknown } | NotJson {
  const copier = new Copier(maxDepth, maxNodes, onMember);
  try {
    return { ok: true, value: copier.copy(source) };
  } catch {
    // Without a reason it was foreign code that threw: a trap of a proxy, or a revoked one.
    return copier.reason ?? notJson("", "plain data", "an object that throws when the kernel reads it");
  }
}

const { getOwnPropertyDescriptor, prototype } = Object;
const lookupGetter = Reflect.get(prototype, "__lookupGetter__") as (this: object, key: number) => unknown;

/**
 * A present item that is no accessor, found without its descriptor, which takes four times as long
 * in V8. `undefined` where only the descriptor can tell.
 */
const itemOf = (from: readonly unknown[], index: number): unknown =>
  Object.hasOwn(from, index) && lookupGetter.call(from, index) === undefined ? from[index] : undefined;

class Copier {
  reason: NotJson | undefined;
  /** Values that may still come. */
  #left: number;
  readonly #maxDepth: number;
  readonly #maxNodes: number;
  readonly #onMember: OnMember;
  /** The way to the object or array that is being copied. */
  readonly #tokens: (string | number)[] = [];

  constructor(maxDepth: number, maxNodes: number, onMember: OnMember) {
    this.#maxDepth = maxDepth;
    this.#maxNodes = maxNodes;
    this.#left = maxNodes - 1;
    this.#onMember = onMember;
  }

  copy(value: unknown): unknown {
    if (isScalar(value)) return value;
    if (typeof value !== "object" || value === null || !(Array.isArray(value) || isPlain(value)))
      return this.#refuseType(value);
    if (this.#tokens.length >= this.#maxDepth)
      this.#refuse(`at most ${this.#maxDepth} levels`, "more", undefined, "SCHEMA_TOO_DEEP");
    return Array.isArray(value) ? this.#array(value) : this.#object(value);
  }

  #array(from: readonly unknown[]): unknown[] {
    const { length } = from;
    this.#count(length);
    const to: unknown[] = [];
    for (let index = 0; index < length; index++) {
      const item = itemOf(from, index) ?? this.#read(from, index);
      to.push(isScalar(item) ? item : this.#part(index, item));
    }
    return to;
  }

  #object(from: object): object {
    const to: Record<string, unknown> = {};
    const keys = Object.keys(from);
    this.#count(keys.length);
    for (const key of keys) {
      const property = this.#read(from, key);
      if (property === undefined && this.#onMember === undefined) continue;
      const value = isScalar(property) ? property : this.#part(key, property);
      if (key === "__proto__") Object.defineProperty(to, key, { value, enumerable: true });
      else to[key] = value;
      this.#onMember?.(key);
    }
    return to;
  }

  #part(key: string | number, value: unknown): unknown {
    this.#tokens.push(key);
    const copied = this.copy(value);
    this.#tokens.pop();
    return copied;
  }

  #read(from: object, key: string | number): unknown {
    const property = getOwnPropertyDescriptor(from, key);
    if (property !== undefined && hasOwn(property, "value") && (key !== "__proto__" || this.#onMember !== undefined))
      return property.value as unknown;
    const isProto = key === "__proto__" && this.#onMember === undefined;
    this.#tokens.push(key);
    return this.#refuse("plain data", property === undefined ? "a hole" : isProto ? key : "an accessor");
  }

  #count(more: number): void {
    this.#left -= more;
    if (this.#left < 0) this.#refuse(`at most ${this.#maxNodes} values`, "more", undefined, "SCHEMA_TOO_LARGE");
  }

  #refuseType(value: unknown): never {
    const tag = Object.prototype.toString.call(value).slice(8, -1);
    const name = tag === "Object" ? "an instance of a class" : `a ${tag.slice(0, 40)}`;
    const received = typeof value === "number" ? `the number ${value}` : value === undefined ? "undefined" : name;
    return this.#refuse("a JSON value", received, HINTS.get(tag));
  }

  /** Leaves from any depth; what is thrown does not matter. */
  #refuse(...why: [expected: string, received: string, hint?: string | undefined, code?: Code]): never {
    this.reason = notJson(this.#tokens.map((token) => `/${escapeToken(String(token))}`).join(""), ...why);
    throw this.reason;
  }
}
