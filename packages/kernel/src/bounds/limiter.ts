import * as limits from "../limits.ts";
import type { Clock } from "../isolate/clock.ts";
import { Shares } from "../support/shares.ts";
import type { Bounds } from "./bounds.ts";
import { FairSemaphore, type Queued } from "./fair-semaphore.ts";

export type Reservation = Slot | Limited;

export interface Slot {
  readonly ok: true;
  /** Idempotent. */
  readonly release: () => void;
}

/** Why a call may not start now. */
export interface Limited {
  readonly ok: false;
  readonly bound: "concurrency" | "queuedCalls" | "callsPerHour";
  readonly limit: number;
  /** In the queue of the tool, from 1. Absent for a rate, which has none. */
  readonly position?: number;
  readonly retryAfterMs: number;
}

/** A call that waits for a slot of its tool. */
export interface Waiting {
  /** In the queue when the call came, from 1. */
  readonly position: number;
  readonly end: Promise<Reservation>;
  /** Ends the waiting with a refusal. */
  readonly leave: () => void;
}

export interface Candidate {
  /** `name@version`. */
  readonly toolId: string;
  readonly caller: string;
  /** The call from outside that led to this one. */
  readonly outermostId: string;
  readonly bounds: Pick<Bounds, "concurrency" | "timeoutMs">;
}

export interface Patience {
  /** 0: the kernel refuses a call without a free slot at once. */
  readonly waitMs: number;
  /** Each of them ends the waiting. */
  readonly signals?: readonly AbortSignal[];
}

interface ToolSlots {
  readonly slots: FairSemaphore;
  /** The running calls. A list, kept when it is empty: a set that changes with every call leaves its old tables behind for the full collection. */
  readonly running: { readonly caller: string; readonly endsByMs: number }[];
}

/**
 * The slots of each tool. A caller takes one while it holds fewer than are free. Other calls wait in a fair queue, round-robin by caller; a call counts with
 * its nested calls.
 */
export class Limiter {
  readonly #clock: Clock;
  readonly #tools = new Map<string, ToolSlots>();
  /** Bytes of arguments by caller. */
  readonly #inputs = new Shares();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * Counts the arguments of a call until it is over, wherever it waits: a queue of few calls can
   * hold much. Returns its end, or `undefined` where the caller has its share.
   */
  holdInput(caller: string, bytes: number): (() => void) | undefined {
    const inputs = this.#inputs;
    if (inputs.isFull(caller, limits.heldInputBytes, bytes)) return undefined;
    inputs.add(caller, bytes);
    return () => inputs.add(caller, -bytes);
  }

  /** At once, unless the call waits. */
  reserve(candidate: Candidate, { waitMs, signals = [] }: Patience = atOnce): Reservation | Waiting {
    const tool = this.#toolOf(candidate.toolId);
    const { slots } = tool;
    const { caller, outermostId, bounds } = candidate;
    const limit = bounds.concurrency;
    const path = [caller, outermostId];
    if (waitMs <= 0 && slots.isFull(path, { limit })) return this.#occupied(tool, candidate, slots.waiting + 1);
    const slot = slots.take(path, { limit, signals });
    if (slot.kind === "held") return this.#admit(tool, candidate, slot.release);
    if (slot.kind === "queued")
      return { position: slot.position, end: this.#turnOf(tool, candidate, slot, waitMs), leave: slot.leave };
    return slot.reason === "full" ? this.#full(tool) : this.#occupied(tool, candidate, slots.waiting + 1);
  }

  async #turnOf(tool: ToolSlots, candidate: Candidate, slot: Queued, waitMs: number): Promise<Reservation> {
    let { position } = slot;
    const stopTimer = this.#clock.after(waitMs, () => {
      ({ position } = slot);
      slot.leave();
    });
    const turn = await slot.turn;
    stopTimer();
    if (turn.kind === "refused")
      return turn.reason === "full" ? this.#full(tool) : this.#occupied(tool, candidate, position);
    return this.#admit(tool, candidate, turn.release);
  }

  #admit({ running }: ToolSlots, { caller, bounds }: Candidate, freeSlot: () => void): Reservation {
    const call = { caller, endsByMs: this.#clock.monotonicMs() + bounds.timeoutMs };
    running.push(call);
    const release = (): void => {
      const at = running.indexOf(call);
      if (at < 0) return;
      running.splice(at, 1);
      freeSlot();
    };
    return { ok: true, release };
  }

  #toolOf(toolId: string): ToolSlots {
    let tool = this.#tools.get(toolId);
    if (!tool) {
      // The bound can differ from call to call; each one names its own below the ceiling.
      tool = {
        slots: new FairSemaphore(limits.ceilings.concurrency, { maxWaiting: limits.queuedCalls, hasShares: true }),
        running: [],
      };
      this.#tools.set(toolId, tool);
    }
    return tool;
  }

  /** @param position which is served after as many running calls have ended */
  #occupied(tool: ToolSlots, { caller, bounds }: Candidate, position: number): Limited {
    const { concurrency: limit } = bounds;
    const { slots, running } = tool;
    // A caller with its share waits for its own calls, and not for those of others.
    const ahead = slots.held < limit ? running.filter((call) => call.caller === caller) : running;
    return { ok: false, bound: "concurrency", limit, position, retryAfterMs: this.#freeInMs(ahead, position) };
  }

  #full(tool: ToolSlots): Limited {
    const limit = limits.queuedCalls;
    const position = limit + 1;
    return { ok: false, bound: "queuedCalls", limit, position, retryAfterMs: this.#freeInMs(tool.running, position) };
  }

  /** When so many of the running calls must have ended, or all of them. */
  #freeInMs(running: ToolSlots["running"], ended: number): number {
    const ends = running.map(({ endsByMs }) => endsByMs).toSorted((a, b) => a - b);
    const endMs = ends[Math.min(Math.max(ended, 1), ends.length) - 1] ?? 0;
    return wait(endMs - this.#clock.monotonicMs());
  }

  /** Calls that hold a slot now. */
  get inFlight(): number {
    let count = 0;
    for (const { slots } of this.#tools.values()) count += slots.held;
    return count;
  }
}

const atOnce: Patience = { waitMs: 0 };

const wait = (delayMs: number): number => Math.max(1, Math.ceil(delayMs));
