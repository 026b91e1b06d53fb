/** Functions that hear of each change. */
export class Listeners {
  readonly #all = new Set<() => void>();

  /** @returns a function that removes the listener */
  readonly subscribe = (listener: () => void): (() => void) => {
    this.#all.add(listener);
    return () => this.#all.delete(listener);
  };

  readonly tell = (): void => {
    for (const listener of this.#all) listener();
  };
}
