import type { Dimension } from "./dimension.ts";

/** Tests of a value against a clause that take as long as something else. */
export const costs: Readonly<Record<"value" | "combination" | "place" | "decision", number>> = {
  /** The making of a value. */
  value: 40,
  /** The answers for one combination of clauses that can hold. */
  combination: 4,
  /** A look at one place. */
  place: 60,
  /** Two decisions of the kernel. */
  decision: 100,
};

/** Why a dimension was not gone through whole. */
export const tooMany = "The policies name more of it than the comparison has combined.";

/** The budget is empty. */
export class Spent extends Error {}

/** Tests that may still be made, and the dimensions for which they did not suffice. */
export class Work {
  readonly #most: number;
  #limit: number;
  #done = 0;
  readonly capped: Map<string, string> = new Map<string, string>();

  constructor(mostTests: number) {
    this.#most = mostTests;
    this.#limit = mostTests;
  }

  get tests(): number {
    return this.#done;
  }

  /** Sets a share of the remaining tests aside for what comes next. */
  allow(share: number): void {
    this.#limit = this.#done + Math.floor((this.#most - this.#done) * share);
  }

  /** @throws {Spent} where less is left */
  take({ name }: Dimension, tests: number): void {
    this.#done += tests;
    if (this.#done <= this.#limit) return;
    this.cap(name, `The budget of ${this.#most} tests was spent on it.`);
    throw new Spent();
  }

  /** Tests that are over in any case. */
  add(tests: number): void {
    this.#done += tests;
  }

  cap(name: string, reason: string): void {
    if (!this.capped.has(name)) this.capped.set(name, reason);
  }
}
