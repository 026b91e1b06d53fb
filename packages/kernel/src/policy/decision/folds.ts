import { isPlain, type Plain } from "../../capability/matching/plain.ts";
import { canonicalJson } from "../../json/canonical-json.ts";
import type { JsonValue } from "../../json/json.ts";
import * as limits from "../../limits.ts";
import { plainText, type Scalar, type TextKind, textWork } from "./plain-text.ts";

const byDecision = new WeakMap<object, Folds>();

/** The plain items of an array by their keys, and why the others have none. */
interface Items {
  readonly keys: ReadonlySet<string>;
  readonly fault: "NOT_PLAIN" | "TOO_MUCH_TEXT" | undefined;
}

/**
 * The values of one decision's input in their plain form. It reads each text and array once for all
 * rules. The work has a bound: past the bound no condition on a text can be decided.
 */
export class Folds {
  #left: number = limits.foldedUnits;
  #searchLeft: number = limits.searchedUnits;
  readonly #plain = new Map<TextKind, Map<Scalar, Plain | undefined>>();
  readonly #items = new Map<TextKind, Map<object, Items>>();
  readonly #canonical = new Map<object, string>();
  readonly #scalars = new Map<object, ReadonlySet<Scalar>>();
  readonly #members = new Map<object, ReadonlyMap<string, JsonValue>>();
  readonly #flat = new Map<object, boolean>();

  static of(decision: object): Folds {
    const folds = byDecision.get(decision) ?? new Folds();
    byDecision.set(decision, folds);
    return folds;
  }

  /** `undefined` beyond the bound. */
  plain(value: Scalar, kind: TextKind): Plain | undefined {
    return once(ofKind(this.#plain, kind), value, () => this.#read(value, kind));
  }

  /** The answer of a test to the key of a value. */
  test(
    value: Scalar,
    kind: TextKind,
    test: (key: string) => boolean | undefined,
  ): boolean | "NOT_PLAIN" | "TOO_MUCH_TEXT" {
    const plain = this.plain(value, kind);
    if (plain === undefined) return "TOO_MUCH_TEXT";
    return isPlain(plain) ? (test(plain.key) ?? "TOO_MUCH_TEXT") : "NOT_PLAIN";
  }

  /** Whether a text contains another one. The read characters count as work. */
  finds(text: string, part: string): boolean | undefined {
    if (part.length > text.length) return false;
    if (text.length > this.#searchLeft) return undefined;
    const at = text.indexOf(part);
    this.#searchLeft -= at < 0 ? text.length : at + part.length;
    return at >= 0;
  }

  canonical(value: JsonValue): string {
    if (typeof value !== "object" || value === null) return canonicalJson(value);
    return once(this.#canonical, value, () => canonicalJson(value));
  }

  /** The items of an array that are neither arrays nor objects. */
  scalars(array: readonly JsonValue[]): ReadonlySet<Scalar> {
    return once(this.#scalars, array, () => new Set(array.filter(isScalar)));
  }

  /** The members of an object, the items of an array. */
  members(value: object): ReadonlyMap<string, JsonValue> {
    return once(this.#members, value, () => new Map<string, JsonValue>(Object.entries(value)));
  }

  /** Whether an array has neither arrays nor objects. */
  isFlat(array: readonly JsonValue[]): boolean {
    return once(this.#flat, array, () => array.every(isScalar));
  }

  /** The same items by their keys. */
  items(array: readonly JsonValue[], kind: TextKind): Items {
    return once(ofKind(this.#items, kind), array, () => {
      const all = [...this.scalars(array)].map((item) => this.#read(item, kind));
      const keys = new Set(all.flatMap((each) => (each && isPlain(each) ? [each.key] : [])));
      const isRead = all.every((each) => each !== undefined && isPlain(each));
      return { keys, fault: isRead ? undefined : all.includes(undefined) ? "TOO_MUCH_TEXT" : "NOT_PLAIN" };
    });
  }

  #read(value: Scalar, kind: TextKind): Plain | undefined {
    const units = textWork(value, kind, this.#left);
    if (units > this.#left) return undefined;
    this.#left -= units;
    return plainText(value, kind);
  }
}

export const isScalar = (value: JsonValue): value is Scalar => typeof value !== "object" || value === null;

function ofKind<Key, Value>(known: Map<TextKind, Map<Key, Value>>, kind: TextKind): Map<Key, Value> {
  return once(known, kind, () => new Map<Key, Value>());
}

function once<Key, Value>(known: Map<Key, Value>, key: Key, make: () => Value): Value {
  if (known.has(key)) return known.get(key) as Value;
  const made = make();
  known.set(key, made);
  return made;
}
