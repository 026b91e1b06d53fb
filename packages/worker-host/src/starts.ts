/**
 * Lets a bounded number of isolates start at the same time. Who has to wait waits in the queue of its tool, and the queues take turns: a flood of sessions
 * of one tool costs another at most one start.
 */
export class Starts {
  #free: number;
  /** By tool, the one whose turn is next first. No queue is empty. */
  readonly #queues = new Map<string, (() => void)[]>();

  constructor(atOnce: number) {
    this.#free = atOnce;
  }

  /** Resolves with the way to let the next one start. Idempotent. */
  async take(tool: string): Promise<() => void> {
    if (this.#free > 0) this.#free -= 1;
    else {
      await new Promise<void>((resolve) => {
        const queue = this.#queues.get(tool) ?? [];
        if (queue.push(resolve) === 1) this.#queues.set(tool, queue);
      });
    }
    let started = false;
    return () => {
      if (started) return;
      started = true;
      this.#next();
    };
  }

  #next(): void {
    const [turn] = this.#queues;
    if (turn === undefined) {
      this.#free += 1;
      return;
    }
    const [tool, queue] = turn;
    // To the end of the row, behind those who wait as well.
    this.#queues.delete(tool);
    queue.shift()?.();
    if (queue.length > 0) this.#queues.set(tool, queue);
  }
}
