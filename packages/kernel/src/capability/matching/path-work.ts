/** Work that may still be done for one request: characters that are read, and look-ups. */
export class PathWork {
  #left: number;

  constructor(most: number) {
    this.#left = most;
  }

  get left(): number {
    return this.#left;
  }

  /** Takes an amount before the work. Whether that much was left. */
  take(amount: number): boolean {
    this.#left -= amount;
    return this.#left >= 0;
  }
}
