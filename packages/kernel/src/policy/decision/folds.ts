import { canonicalJson } from "../../json/canonical-json.ts";
import { isJsonArray, type JsonValue } from "../../json/json.ts";
import * as limits from "../../limits.ts";
import { foldText, foldWork, numbersAtStart } from "../../support/fold.ts";
import { foldValue, isAlike } from "./fold-case.ts";
import { type HostReading, readHost } from "./host-reading.ts";
import { hasPlaceReadings, placeReadings, placeWork } from "./place-readings.ts";

/** A decision folds a longer text once, for any number of rules. */
const shortLength = 256;
/** The cost of one comparison of large numbers, in folded units. */
const lookUnits = 256;
const byDecision = new WeakMap<object, Folds>();

type Scalar = string | number | boolean | null;

/**
 * The folded texts of one decision's input, for denies. It folds each long text, array and object
 * once for all rules. The work has a bound: past the bound the answer is `undefined`, and no
 * condition on it can be decided.
 */
export class Folds {
  #left: number = limits.foldedUnits;
  #searchLeft: number = limits.searchedUnits;
  #isCut = false;
  readonly #texts = new Map<string, string | undefined>();
  readonly #places = new Map<string, readonly string[] | undefined>();
  readonly #hosts = new Map<string, HostReading>();
  readonly #readings = new Map<string, readonly string[] | undefined>();
  readonly #values = new WeakMap<object, string | undefined>();
  readonly #canonical = new WeakMap<object, string>();
  readonly #scalars = new WeakMap<object, ReadonlySet<JsonValue>>();
  readonly #flat = new WeakMap<object, boolean>();
  readonly #alike = new WeakMap<object, ReadonlyMap<string, readonly Scalar[]> | undefined>();

  static of(decision: object): Folds {
    const folds = byDecision.get(decision) ?? new Folds();
    byDecision.set(decision, folds);
    return folds;
  }

  text(text: string): string | undefined {
    const whole = () => this.#uncut(() => this.#fold(text));
    return text.length > shortLength ? once(this.#texts, text, whole) : whole();
  }

  /** The readings of a text as a place, without the text itself. */
  places(text: string): readonly string[] | undefined {
    // The look at a long text costs as much as its readings.
    if (text.length <= shortLength && !hasPlaceReadings(text)) return [];
    return once(this.#places, text, () => {
      if (!hasPlaceReadings(text)) return [];
      return this.#pay(placeWork(text)) ? placeReadings(text) : undefined;
    });
  }

  /** The reading of a text as a host. */
  host(text: string): HostReading {
    return text.length > shortLength ? once(this.#hosts, text, () => readHost(text)) : readHost(text);
  }

  /** Their folds. */
  readings(text: string): readonly string[] | undefined {
    const places = this.places(text);
    if (places === undefined || places.length === 0) return places;
    return once(this.#readings, text, () => this.#uncut(() => places.map(this.#fold)));
  }

  /** Whether a text contains another one. The read characters count as work. */
  finds(text: string, part: string): boolean | undefined {
    if (part.length > text.length) return false;
    if (text.length > this.#searchLeft) return undefined;
    const at = text.indexOf(part);
    this.#searchLeft -= at < 0 ? text.length : at + part.length;
    return at >= 0;
  }

  value(value: JsonValue): string | undefined {
    const whole = () => this.#uncut(() => foldValue(value, this.#fold));
    return typeof value === "object" && value !== null ? once(this.#values, value, whole) : whole();
  }

  /** The fold of a value, and of a text those of its readings. */
  valueReadings(value: JsonValue): readonly string[] | undefined {
    const folded = this.value(value);
    if (folded === undefined || typeof value !== "string") return folded === undefined ? undefined : [folded];
    const readings = this.readings(value);
    return readings && [folded, ...readings.map((each) => foldValue(each, (text) => text))];
  }

  /**
   * The same of a value that a call gives, and others that readers take from it: the numbers that a
   * text begins with, and the one item of an array, which in a template of a text is that item.
   */
  meanings(value: JsonValue): readonly string[] | undefined {
    const readings = this.valueReadings(value);
    if (readings === undefined) return undefined;
    if (isJsonArray(value) && value.length === 1) {
      const item = this.meanings(value[0]!);
      return item && [...readings, ...item];
    }
    // JSON of a text begins as the text does.
    const text = typeof value === "string" ? readings[0]!.slice(1, -1) : "";
    const numbers = Number.isNaN(Number(text)) ? numbersAtStart(text) : [];
    return numbers.length === 0 ? readings : [...readings, ...numbers.map((each) => foldValue(each, (text) => text))];
  }

  canonical(value: JsonValue): string {
    if (typeof value !== "object" || value === null) return canonicalJson(value);
    return once(this.#canonical, value, () => canonicalJson(value));
  }

  /** Whether two values with one fold mean one thing; also where the bound is reached. */
  isAlike(one: JsonValue, other: JsonValue): boolean {
    return !this.#pay(lookUnits) || isAlike(one, other);
  }

  /** The items of an array that are neither arrays nor objects. */
  scalars(array: readonly JsonValue[]): ReadonlySet<JsonValue> {
    return once(this.#scalars, array, () => new Set(array.filter(isScalar)));
  }

  /** Whether an array has neither arrays nor objects. */
  isFlat(array: readonly JsonValue[]): boolean {
    return once(this.#flat, array, () => array.every(isScalar));
  }

  /** The same items by their folds. */
  alike(array: readonly JsonValue[]): ReadonlyMap<string, readonly Scalar[]> | undefined {
    return once(this.#alike, array, () => {
      const byFold = new Map<string, Scalar[]>();
      for (const item of new Set(array.filter(isScalar))) {
        const folds = this.meanings(item);
        if (folds === undefined) return undefined;
        for (const folded of folds) {
          const known = byFold.get(folded);
          if (known) known.push(item);
          else byFold.set(folded, [item]);
        }
      }
      return byFold;
    });
  }

  readonly #fold = (text: string): string => {
    const paid = this.#pay(foldWork(text, this.#left));
    this.#isCut ||= !paid;
    return paid ? foldText(text) : "";
  };

  #pay(units: number): boolean {
    if (units > this.#left) return false;
    this.#left -= units;
    return true;
  }

  #uncut<Folded>(fold: () => Folded): Folded | undefined {
    this.#isCut = false;
    const folded = fold();
    return this.#isCut ? undefined : folded;
  }
}

/** The folds of a value that a policy names. */
export function foldsOf(value: JsonValue): readonly string[] {
  return new Folds().valueReadings(value) ?? [foldValue(value)];
}

const isScalar = (value: JsonValue): value is Scalar => typeof value !== "object" || value === null;

interface Memory<Key, Value> {
  has(key: Key): boolean;
  get(key: Key): Value | undefined;
  set(key: Key, value: Value): unknown;
}

function once<Key, Value>(known: Memory<Key, Value>, key: Key, make: () => Value): Value {
  if (known.has(key)) return known.get(key) as Value;
  const made = make();
  known.set(key, made);
  return made;
}
