import { type Listener, tell } from "../support/foreign.ts";

/** Listeners of the embedding program that are told of a change, and of nothing else. */
export class Watchers {
  readonly #listeners = new Set<{ readonly listener: Listener<[]> }>();

  /** Returns the way to stop. A function that is added twice gets two calls. */
  add(listener: Listener<[]>): () => void {
    const own = { listener };
    this.#listeners.add(own);
    return () => void this.#listeners.delete(own);
  }

  notify(): void {
    for (const { listener } of this.#listeners) tell(listener, []);
  }

  /** Tells of a change when it is made, and also where it failed: part of it can hold already. */
  after<Value>(change: Promise<Value>): Promise<Value> {
    const tellAll = (): void => this.notify();
    // Beside the change, not after it: its caller does not wait longer.
    void change.then(tellAll, tellAll);
    return change;
  }
}
