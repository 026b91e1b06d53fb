import type { Dimension } from "./dimension.ts";

/** The budget is empty. */
export class Spent extends Error {}

/** Tests that may still be made, and the dimensions for which they did not suffice. */
export class Work {
  readonly #most: number;
  #done = 0;
  readonly capped: Map<string, string> = new Map<string, string>();

  constructor(mostTests: number) {
    this.#most = mostTests;
  }

  get tests(): number {
    return this.#done;
  }

  /** @throws {Spent} where less is left */
  take({ name }: Dimension, tests: number): void {
    this.#done += tests;
    if (this.#done <= this.#most) return;
    this.cap(name, `The budget of ${this.#most} tests was spent on it.`);
    throw new Spent();
  }

  /** Two decisions of the kernel. */
  decided(): void {
    this.#done += 2;
  }

  cap(name: string, reason: string): void {
    if (!this.capped.has(name)) this.capped.set(name, reason);
  }
}
