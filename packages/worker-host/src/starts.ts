import { IsolateFailure } from "@keyhole/kernel";

interface Start {
  readonly isWanted: () => boolean;
  readonly go: (started: (() => void) | undefined) => void;
}

/**
 * Lets a bounded number of isolates start at the same time. Who has to wait waits in the queue of its tool, and the queues take turns: a flood of sessions
 * of one tool costs another at most one start. A start that nobody wants any more when its turn comes costs nothing.
 */
export class Starts {
  #free: number;
  /** By tool, the one whose turn is next first. No queue is empty. */
  readonly #queues = new Map<string, Start[]>();

  constructor(atOnce: number) {
    this.#free = atOnce;
  }

  /** Resolves with the way to let the next one start, which is idempotent; with `undefined` where nobody wants this one any more. */
  async take(tool: string, isWanted: () => boolean = always): Promise<(() => void) | undefined> {
    if (this.#free > 0) return isWanted() ? this.#begun() : undefined;
    return new Promise((go) => {
      const queue = this.#queues.get(tool) ?? [];
      if (queue.push({ isWanted, go }) === 1) this.#queues.set(tool, queue);
    });
  }

  #begun(): () => void {
    this.#free -= 1;
    let started = false;
    return () => {
      if (started) return;
      started = true;
      this.#free += 1;
      this.#next();
    };
  }

  #next(): void {
    for (const [tool, queue] of this.#queues) {
      if (this.#free === 0) return;
      // To the end of the row, behind those who wait as well.
      this.#queues.delete(tool);
      const next = firstWanted(queue);
      if (queue.length > 0) this.#queues.set(tool, queue);
      next?.go(this.#begun());
    }
  }
}

/** Takes it out of the queue, and all before it. */
function firstWanted(queue: Start[]): Start | undefined {
  for (let start = queue.shift(); start; start = queue.shift()) {
    if (start.isWanted()) return start;
    start.go(undefined);
  }
  return undefined;
}

const always = (): boolean => true;

export function nobodyWaits(): IsolateFailure {
  return new IsolateFailure("ISOLATE_LOST", "Nobody waits for this isolate any more.");
}
