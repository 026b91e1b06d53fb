/** The faults of one connection to a bus. Neither a message nor a listener of messages or faults ends the reading of the connection. */
export class Faults {
  readonly #listeners = new Set<(error: Error) => void>();

  /** Returns the way to stop. */
  listen(listener: (error: Error) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** Reads a foreign message, or calls a listener: a throw is a fault. */
  guard(work: () => void): void {
    try {
      work();
    } catch (error) {
      this.report(error instanceof Error ? error : new Error(String(error)));
    }
  }

  report(error: Error): void {
    for (const listener of this.#listeners) {
      try {
        listener(error);
      } catch {
        // No other listener is left.
      }
    }
  }
}
