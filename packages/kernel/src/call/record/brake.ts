/** Ends the run of a call that may run no longer: a mode denies it, or its approval or a grant that it needs was revoked. */
export class Brake {
  #why: string | undefined;
  #onPull: ((why: string) => void) | undefined;

  /** The first reason, as a sentence, is the one that counts. */
  pull(why: string): void {
    if (this.#why !== undefined) return;
    this.#why = why;
    this.#onPull?.(why);
  }

  /** The reason why the call may run no longer, also behind the end of its run. */
  get why(): string | undefined {
    return this.#why;
  }

  /** Called at once where it was pulled before. Each run of the call takes the place of the one before. */
  watch(onPull: (why: string) => void): void {
    this.#onPull = onPull;
    if (this.#why !== undefined) onPull(this.#why);
  }
}
