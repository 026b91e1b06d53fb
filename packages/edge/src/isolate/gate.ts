/** Cloudflare's bound for the dynamic Workers that one Durable Object talks to at the same time. */
export const maxInFlight = 10;

/**
 * Lets a bounded number of different isolates be in flight at the same time; the others wait in order. Calls into an isolate that is in flight anyway
 * pass at once.
 */
export class InFlightGate {
  readonly #limit: number;
  readonly #calls = new Map<string, number>();
  readonly #waiting: { readonly id: string; readonly pass: () => void }[] = [];

  constructor(limit: number) {
    this.#limit = limit;
  }

  async enter(id: string): Promise<void> {
    if (this.#admits(id)) return this.#count(id);
    await new Promise<void>((pass) => this.#waiting.push({ id, pass }));
  }

  leave(id: string): void {
    const calls = this.#calls.get(id);
    if (calls === undefined) return; // It was forgotten while it ran.
    if (calls > 1) this.#calls.set(id, calls - 1);
    else this.forget(id);
  }

  /** Frees the isolate's place whatever still runs in it: it was told to stop, and nobody waits for it. */
  forget(id: string): void {
    this.#calls.delete(id);
    for (let next = this.#waiting[0]; next !== undefined && this.#admits(next.id); next = this.#waiting[0]) {
      this.#waiting.shift();
      this.#count(next.id);
      next.pass();
    }
  }

  #admits(id: string): boolean {
    return this.#calls.has(id) || this.#calls.size < this.#limit;
  }

  #count(id: string): void {
    this.#calls.set(id, (this.#calls.get(id) ?? 0) + 1);
  }
}
