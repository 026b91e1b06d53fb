/** Something was asked for that takes time. Whoever runs the guest waits for it, and then does the same again. */
export class Unanswered extends Error {}

interface Pending {
  readonly make: () => Promise<unknown>;
}

/**
 * The answers that a run got, in the order of its requests. A guest cannot wait. So the run stops at a request, the host fetches the answer, records it here,
 * and runs the guest again: this time the answer is there. The same program makes the same requests up to the first new one.
 */
export class ReplayJournal {
  readonly #entries: unknown[] = [];
  #at = 0;
  #pending: Pending | undefined;

  /** @throws Unanswered until {@link ReplayJournal.answer} was awaited */
  ask<T>(make: () => Promise<T>): T {
    if (this.#at < this.#entries.length) return this.#entries[this.#at++] as T;
    this.#pending = { make };
    throw new Unanswered();
  }

  /** Records a value that reads differently the next time. */
  observe<T>(read: () => T): T {
    if (this.#at === this.#entries.length) this.#entries.push(read());
    return this.#entries[this.#at++] as T;
  }

  /** Gets the answer to the one open question. */
  async answer(): Promise<void> {
    const pending = this.#pending;
    this.#pending = undefined;
    if (pending !== undefined) this.#entries.push(await pending.make());
  }

  rewind(): void {
    this.#at = 0;
  }

  /** Drops the entries so far: no run asks for them again. */
  forget(): void {
    this.#entries.length = 0;
    this.#at = 0;
  }
}
