import { present } from "../support/guards.ts";
import { Shares } from "../support/shares.ts";

/** The outcome of a request for a slot. */
export type Settled =
  | { readonly kind: "held"; /** Idempotent. */ readonly release: () => void }
  | {
      readonly kind: "refused";
      /**
       * - `full`: the queue is full, and no other key has more waiting requests.
       * - `left`: the request left the queue, or its signal aborted.
       * - `unwanted`: `isWanted` returned `false` when its turn came.
       */
      readonly reason: "full" | "left" | "unwanted";
    };

/** A request that waits for a slot. */
export interface Queued {
  readonly kind: "queued";
  /** 1 for the next request to be served. Later requests of other keys can pass it. 0 outside the queue. */
  readonly position: number;
  readonly turn: Promise<Settled>;
  /** Leaves the queue. Does nothing after the turn has come. */
  readonly leave: () => void;
}

export interface SlotOptions {
  /** The slots that the request shares with those before it, if fewer than all. It delays no other request while it waits for them. */
  readonly limit?: number;
  /** Asked when a slot is free for the request, so that a request without interest costs no turn. */
  readonly isWanted?: (() => boolean) | undefined;
  /** Each of them takes the request out of the queue. */
  readonly signals?: readonly AbortSignal[];
}

export interface SemaphoreOptions {
  /** Default: no bound. */
  readonly maxWaiting?: number;
  /** A first key of a path takes a slot while it holds fewer than are free. Default `false`: it can take all. */
  readonly hasShares?: boolean;
}

interface Waiter {
  readonly path: readonly string[];
  readonly options: SlotOptions;
  readonly isWanted: () => boolean;
  readonly settle: (outcome: Settled) => void;
}

interface Level {
  /** Requests on this level and below. */
  waiting: number;
  /** By key, the next to be served first. None is empty. */
  readonly children: Map<string, Level>;
  /** Of the last level, in the order of arrival. */
  readonly queue: Waiter[];
}

/**
 * A bounded number of slots, shared fairly. A request names a path, such as tenant, caller, call.
 * On each level of the path the keys take turns (round-robin); requests of the same path are served
 * in the order of arrival. So a burst under one key delays another key by one slot at a time. All
 * paths of one semaphore have the same length. In a full, bounded queue a request of a key with few
 * waiting requests replaces the last request of the key with the most. So one key cannot keep the
 * others out. With shares it cannot hold all slots either: it leaves half of them, and the next key half of the rest.
 *
 * @example
 * const slots = new FairSemaphore(4);
 * const slot = slots.take(["tenant", "caller"]);
 * const settled = slot.kind === "queued" ? await slot.turn : slot;
 * if (settled.kind === "held") settled.release();
 */
export class FairSemaphore {
  readonly size: number;
  readonly #maxWaiting: number;
  readonly #hasShares: boolean;
  readonly #root = emptyLevel();
  /** By the first key of the path. */
  readonly #held = new Shares();

  constructor(size: number, { maxWaiting = Infinity, hasShares = false }: SemaphoreOptions = {}) {
    this.size = size;
    this.#maxWaiting = maxWaiting;
    this.#hasShares = hasShares;
  }

  get held(): number {
    return this.#held.total;
  }

  get free(): number {
    return this.size - this.held;
  }

  /** Slots of one first key. */
  heldBy(key: string): number {
    return this.#held.of(key);
  }

  /** Whether a request would wait now. */
  isFull([key]: readonly string[], { limit = this.size }: Pick<SlotOptions, "limit"> = {}): boolean {
    const most = Math.min(limit, this.size);
    return this.#hasShares ? this.#held.isFull(key, most) : this.held >= most;
  }

  get waiting(): number {
    return this.#root.waiting;
  }

  /** At once, where a slot is free. */
  take(path: readonly string[], options: SlotOptions = {}): Settled | Queued {
    const { isWanted = always, signals = none } = options;
    if (signals.some(({ aborted }) => aborted)) return refused("left");
    if (!this.isFull(path, options)) return isWanted() ? this.#hold(path) : refused("unwanted");
    if (this.#root.waiting >= this.#maxWaiting && !this.#makeRoom(path)) return refused("full");
    const { promise: turn, resolve } = Promise.withResolvers<Settled>();
    const leave = (): void => this.#remove(waiter, "left");
    const settle = (outcome: Settled): void => {
      resolve(outcome);
      for (const signal of signals) stopListening(signal, leave);
    };
    const waiter: Waiter = { path, options, isWanted, settle };
    // A signal that throws here leaves no request in the queue: nothing would free its slot.
    for (const signal of signals) signal.addEventListener("abort", leave, { once: true });
    this.#add(waiter);
    const position = (): number => this.#positionOf(waiter);
    return {
      kind: "queued",
      get position() {
        return position();
      },
      turn,
      leave,
    };
  }

  #hold([key]: readonly string[]): Settled {
    this.#held.add(key, 1);
    let released = false;
    const release = (): void => {
      if (released) return;
      released = true;
      this.#held.add(key, -1);
      if (this.#root.waiting > 0) this.#serve();
    };
    return { kind: "held", release };
  }

  #serve(): void {
    while (this.held < this.size) {
      const waiter = this.#next(this.#root);
      if (!waiter) return;
      waiter.settle(this.#hold(waiter.path));
    }
  }

  /** Takes the next request out of the queue. A served key goes behind the others of its level. */
  #next(level: Level): Waiter | undefined {
    for (const [key, child] of level.children) {
      const before = child.waiting;
      const found = this.#next(child);
      level.waiting -= before - child.waiting;
      if (found || child.waiting === 0) level.children.delete(key);
      if (found && child.waiting > 0) level.children.set(key, child);
      if (found) return found;
    }
    const { queue } = level;
    for (let at = 0; at < queue.length;) {
      const waiter = present(queue[at]);
      if (this.isFull(waiter.path, waiter.options)) {
        at++;
        continue;
      }
      queue.splice(at, 1);
      level.waiting--;
      if (waiter.isWanted()) return waiter;
      waiter.settle(refused("unwanted"));
    }
    return undefined;
  }

  #add(waiter: Waiter): void {
    let level = this.#root;
    level.waiting++;
    for (const key of waiter.path) {
      let child = level.children.get(key);
      if (!child) level.children.set(key, (child = emptyLevel()));
      child.waiting++;
      level = child;
    }
    level.queue.push(waiter);
  }

  #remove(waiter: Waiter, reason: "full" | "left"): void {
    const levels = this.#levelsOf(waiter.path);
    const queue = levels.at(-1)?.queue ?? [];
    const at = queue.indexOf(waiter);
    if (at < 0) return;
    queue.splice(at, 1);
    let above: Level | undefined;
    for (const [depth, level] of levels.entries()) {
      level.waiting--;
      if (level.waiting === 0) above?.children.delete(present(waiter.path[depth - 1]));
      above = level;
    }
    waiter.settle(refused(reason));
  }

  /** From the root to the last level. Empty where no request of the path waits. */
  #levelsOf(path: readonly string[]): readonly Level[] {
    let level = this.#root;
    const levels = [level];
    for (const key of path) {
      const child = level.children.get(key);
      if (!child) return [];
      levels.push((level = child));
    }
    return levels;
  }

  #positionOf(waiter: Waiter): number {
    const { path } = waiter;
    const levels = this.#levelsOf(path);
    let position = (levels.at(-1)?.queue.indexOf(waiter) ?? -1) + 1;
    if (position === 0) return 0;
    for (let depth = path.length - 1; depth >= 0; depth--) {
      let ahead = 0;
      let isBefore = true;
      for (const [key, { waiting }] of levels[depth]?.children ?? []) {
        if (key === path[depth]) isBefore = false;
        else ahead += Math.min(waiting, isBefore ? position : position - 1);
      }
      position += ahead;
    }
    return position;
  }

  /** Drops the last request of the key with the most, if that leaves the new request's key with fewer. */
  #makeRoom(path: readonly string[]): boolean {
    let level = this.#root;
    for (const key of path) {
      const own = level.children.get(key);
      const largest = largestOf(level);
      if (largest && (own?.waiting ?? 0) + 1 < largest.waiting) {
        this.#remove(lastOf(largest), "full");
        return true;
      }
      if (!own) return false;
      level = own;
    }
    return false;
  }
}

/** Of equal ones the last to be served. */
function largestOf({ children }: Level): Level | undefined {
  let largest: Level | undefined;
  for (const child of children.values()) if (child.waiting >= (largest?.waiting ?? 0)) largest = child;
  return largest;
}

function lastOf(level: Level): Waiter {
  const largest = largestOf(level);
  return largest ? lastOf(largest) : present(level.queue.at(-1));
}

function emptyLevel(): Level {
  return { waiting: 0, children: new Map(), queue: [] };
}

function refused(reason: "full" | "left" | "unwanted"): Settled {
  return { kind: "refused", reason };
}

/** Runs while another request frees its slot: a fault of this signal must not reach that request. */
function stopListening(signal: AbortSignal, listener: () => void): void {
  try {
    signal.removeEventListener("abort", listener);
  } catch {
    // A listener that stays does nothing: its request has left the queue.
  }
}

const none: readonly AbortSignal[] = [];
const always = (): boolean => true;
