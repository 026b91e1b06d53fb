import type { OwnHost } from "./own-host.ts";
import { IsolateFailure } from "./port.ts";

/** The calls that use one isolate, which holds a place. */
interface Holder {
  /** The running calls, and those that wait for it to open. */
  readonly calls: number;
  /** The running calls. */
  readonly callIds: readonly string[];
}

/** A call from within that waits for a place. */
interface WaitingCall {
  /** The calls that wait for this one. */
  readonly within: readonly string[];
  readonly refuse: () => void;
}

/**
 * Detects a deadlock: calls that wait for nested calls hold every slot, and the nested calls wait
 * for a slot. It refuses one nested call. The parent of that call continues, and releases its slot
 * in the end.
 */
export class Deadlock {
  /** In the order in which they came. */
  readonly #waiting: WaitingCall[] = [];

  /** Returns how it stops waiting. */
  wait(call: WaitingCall): () => void {
    this.#waiting.push(call);
    return () => {
      const at = this.#waiting.indexOf(call);
      if (at >= 0) this.#waiting.splice(at, 1);
    };
  }

  /** To be asked whenever a call begins to wait, and whenever one of several in an isolate ends. */
  resolve(taken: number, holders: Iterable<Holder>): void {
    const held = [...holders].filter(({ calls, callIds }) => calls > 0 && calls === callIds.length);
    while (this.#waiting.length > 0) {
      const blocked = new Set(this.#waiting.flatMap(({ within }) => within));
      const deadlocked = held.filter(({ callIds }) => callIds.every((callId) => blocked.has(callId)));
      if (deadlocked.length < taken) return;
      this.#waiting.pop()?.refuse();
    }
  }
}

export function deadlockIn({ name, capacity }: Pick<OwnHost, "name" | "capacity">): IsolateFailure {
  return new IsolateFailure(
    "BOUNDS_EXCEEDED",
    `Calls that wait for nested calls hold each of the ${capacity} isolates that ${name} can have open.`,
    {
      hint: "Make fewer calls at the same time.",
      operatorHint: "Nest fewer calls, or use a host with more isolates.",
    },
  );
}
