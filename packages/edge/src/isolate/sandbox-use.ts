/** How long an isolate that was closed may still be what holds its sandbox up. workerd stops all work for half of it after an answer. */
const closedForMs = 60_000;

/** Tools of the same code: a program of a call has no other name. */
export type Kind = string | object;

interface Guest {
  readonly kind: Kind;
  /** `Infinity` while it is open. */
  closedAtMs: number;
}

/** The use of one sandbox: its isolates and their calls. Of all kernels of this process together, because one tenant's tool can hold up what another tenant's waits for. */
export class SandboxUse {
  readonly #running = new Set<() => boolean>();
  readonly #guests = new Map<string, Guest>();

  /**
   * Notes a load or a call.
   *
   * @param isBegun whether code of a tool may run for it
   * @returns to be called when it was answered
   */
  run(isBegun: () => boolean): () => void {
    this.#running.add(isBegun);
    return () => void this.#running.delete(isBegun);
  }

  /** Whether something may run there that has a deadline of its own. */
  get isRunning(): boolean {
    return [...this.#running].some((isBegun) => isBegun());
  }

  open(id: string, kind: Kind): void {
    this.#guests.set(id, { kind, closedAtMs: Infinity });
  }

  close(id: string): void {
    const guest = this.#guests.get(id);
    if (guest) guest.closedAtMs = performance.now();
    this.#forgetOld();
  }

  /** Whether no other tool can be what goes on there: it is alone, and was for a while. */
  isOnly(kind: Kind): boolean {
    this.#forgetOld();
    return [...this.#guests.values()].every((guest) => guest.kind === kind);
  }

  #forgetOld(): void {
    const beforeMs = performance.now() - closedForMs;
    for (const [id, { closedAtMs }] of this.#guests) if (closedAtMs < beforeMs) this.#guests.delete(id);
  }
}
