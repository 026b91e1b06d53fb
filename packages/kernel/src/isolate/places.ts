/** A place, or a turn in the queue for one. */
export type Place =
  | { readonly kind: "taken"; /** Idempotent. */ readonly give: () => void }
  | {
      readonly kind: "queued";
      /** Resolves with the way to give the place back. Never resolves once {@link leave} was called. */
      readonly turn: Promise<() => void>;
      /** Stops waiting. Nothing happens when the turn has come. */
      readonly leave: () => void;
    };

/**
 * A number of places that tools share. Who has to wait waits in the queue of its tool, and the queues take turns: a flood for one tool costs another
 * at most one turn.
 */
export class Places {
  readonly #size: number;
  #free: number;
  /** By tool, the one whose turn is next first. No queue is empty. */
  readonly #queues = new Map<string, ((give: () => void) => void)[]>();

  constructor(size: number) {
    this.#size = size;
    this.#free = size;
  }

  get isBounded(): boolean {
    return this.#size !== Infinity;
  }

  get taken(): number {
    return this.#size - this.#free;
  }

  get waiting(): boolean {
    return this.#queues.size > 0;
  }

  take(tool: string): Place {
    if (this.#free > 0) {
      this.#free--;
      return { kind: "taken", give: this.#giver() };
    }
    const { promise, resolve } = Promise.withResolvers<() => void>();
    const queue = this.#queues.get(tool) ?? [];
    if (queue.push(resolve) === 1) this.#queues.set(tool, queue);
    return { kind: "queued", turn: promise, leave: () => this.#leave(tool, resolve) };
  }

  #giver(): () => void {
    let given = false;
    return () => {
      if (given) return;
      given = true;
      const next = this.#next();
      if (next === undefined) this.#free++;
      else next(this.#giver());
    };
  }

  #next(): ((give: () => void) => void) | undefined {
    for (const [tool, queue] of this.#queues) {
      // To the end of the row, behind those who wait as well.
      this.#queues.delete(tool);
      const next = queue.shift();
      if (queue.length > 0) this.#queues.set(tool, queue);
      return next;
    }
    return undefined;
  }

  #leave(tool: string, resolve: (give: () => void) => void): void {
    const queue = this.#queues.get(tool);
    const at = queue?.indexOf(resolve) ?? -1;
    if (at < 0) return;
    queue!.splice(at, 1);
    if (queue!.length === 0) this.#queues.delete(tool);
  }
}
