import { wordsFrom } from "../../support/random.ts";

/** Choices by a seed, the same on every engine: whole numbers alone. */
export class Chance {
  readonly #next: () => number;

  constructor(seed: number) {
    this.#next = wordsFrom(seed);
  }

  /** From 0 to below `end`. */
  below(end: number): number {
    return this.#next() % end;
  }

  /** True once in so many times. */
  oneIn(count: number): boolean {
    return this.below(count) === 0;
  }

  pick<T>(from: readonly T[]): T {
    return from[this.below(from.length)]!;
  }

  times<T>(count: number, make: () => T): T[] {
    return Array.from({ length: count }, make);
  }
}
