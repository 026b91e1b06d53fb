import { Listeners } from "../client/listeners.ts";
import type { FieldError } from "./errors.ts";

const none: readonly FieldError[] = [];

/** The faults that a form shows, by field. A field hears of its own alone. */
export class Faults {
  #byPath: ReadonlyMap<string, readonly FieldError[]> = new Map();
  readonly #listeners = new Listeners();
  readonly subscribe = this.#listeners.subscribe;

  /** The same list as long as it says the same. */
  at(path: string): readonly FieldError[] {
    return this.#byPath.get(path) ?? none;
  }

  set(errors: readonly FieldError[]): void {
    const next = new Map<string, FieldError[]>();
    for (const error of errors) {
      const same = next.get(error.path);
      if (same === undefined) next.set(error.path, [error]);
      else if (!same.some(({ message }) => message === error.message)) same.push(error);
    }
    const kept = [...next].map(([path, list]) => [path, isSame(list, this.at(path)) ? this.at(path) : list] as const);
    this.#byPath = new Map(kept);
    this.#listeners.tell();
  }
}

function isSame(left: readonly FieldError[], right: readonly FieldError[]): boolean {
  return (
    left.length === right.length &&
    left.every(({ message, hint }, index) => message === right[index]?.message && hint === right[index].hint)
  );
}
