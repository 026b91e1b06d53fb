/** Listeners of the embedding program that are told of a change, and of nothing else. */
export class Watchers {
  readonly #listeners = new Set<() => void>();

  /** Returns the way to stop. A function that is added twice is called twice. */
  add(listener: () => void): () => void {
    const own = (): void => listener();
    this.#listeners.add(own);
    return () => void this.#listeners.delete(own);
  }

  notify(): void {
    for (const listener of this.#listeners) {
      try {
        listener();
      } catch {
        // A listener is the embedding program's: its exception must not undo what happened.
      }
    }
  }

  /** Tells of a change when it is made, and also where it failed: part of it can hold already. */
  after<Value>(change: Promise<Value>): Promise<Value> {
    return change.finally(() => this.notify());
  }
}
