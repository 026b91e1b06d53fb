import type { IsolateHost } from "./port.ts";
import { IsolateFailure } from "./port.ts";

/** The calls that use one isolate, which holds a place. */
interface Holder {
  /** The running calls, and those that wait for it to open. */
  readonly calls: number;
  /** The running calls. */
  readonly callIds: readonly string[];
  readonly caller: string;
}

/** A call from within that waits for a place. */
interface WaitingCall {
  /** The calls that wait for this one. */
  readonly within: readonly string[];
  readonly caller: string;
  readonly refuse: () => void;
}

/** The places of all isolates that are not idle. */
interface PlacesInUse {
  /** All that there are. */
  readonly places: number;
  readonly inUse: number;
  readonly inUseBy: (caller: string) => number;
}

/**
 * Detects a deadlock: nested calls wait for a slot, and the calls around them hold every slot in use,
 * or their caller's whole share. It refuses one nested call. The parent of that
 * call continues, and releases its slot in the end.
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

  /** To be asked whenever a call begins to wait, and whenever one ends without another in its place. */
  resolve(holders: Iterable<Holder>, use: PlacesInUse): void {
    const open = [...holders].filter(({ calls, callIds }) => calls > 0 && calls === callIds.length);
    for (let call = this.#lastIn(open, use); call; call = this.#lastIn(open, use)) {
      this.#waiting.splice(this.#waiting.indexOf(call), 1);
      call.refuse();
    }
  }

  /** The last call that waits in vain. */
  #lastIn(open: readonly Holder[], { places, inUse, inUseBy }: PlacesInUse): WaitingCall | undefined {
    const blocked = new Set(this.#waiting.flatMap(({ within }) => within));
    const stuck = open.filter(({ callIds }) => callIds.every((callId) => blocked.has(callId)));
    if (stuck.length >= inUse) return this.#waiting.at(-1);
    return this.#waiting.findLast(({ caller }) => {
      const held = inUseBy(caller);
      const isAtShareAlone = held >= places - held;
      return isAtShareAlone && stuck.filter((holder) => holder.caller === caller).length >= held;
    });
  }
}

export function deadlockIn({ name, capacity }: Pick<IsolateHost, "name" | "capacity">): IsolateFailure {
  return new IsolateFailure(
    "BOUNDS_EXCEEDED",
    `Calls that wait for nested calls hold each isolate that one caller can have of the ${capacity} of ${name}.`,
    {
      hint: "Make fewer calls at the same time.",
      operatorHint: "Nest fewer calls, or use a host with more isolates.",
    },
  );
}
