/** A number of places, given out in the order of asking. */
export class Slots {
  #free: number;
  readonly #size: number;
  readonly #waiting: (() => void)[] = [];
  readonly #idle: (() => void)[] = [];

  constructor(size: number) {
    this.#free = size;
    this.#size = size;
  }

  get free(): number {
    return this.#free;
  }

  /** Resolves with the way to give the place back, once. */
  async take(): Promise<() => void> {
    if (this.#free > 0) this.#free -= 1;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    return () => this.#give();
  }

  /** Resolves when every place is free. */
  idle(): Promise<void> {
    if (this.#free === this.#size) return Promise.resolve();
    return new Promise((resolve) => this.#idle.push(resolve));
  }

  #give(): void {
    const next = this.#waiting.shift();
    if (next !== undefined) return next();
    this.#free += 1;
    if (this.#free === this.#size) for (const resolve of this.#idle.splice(0)) resolve();
  }
}
