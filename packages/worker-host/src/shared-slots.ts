import type { BrokerSession } from "@keyhole/kernel";
import { Shares } from "@keyhole/kernel/context";
import { FairSemaphore, type Settled, type Queued } from "@keyhole/kernel/fair-semaphore";

/** The call that a request belongs to. */
export type Requester = Pick<BrokerSession, "caller" | "outermostId" | "signal">;

/**
 * Slots that all callers share. A caller takes one while it holds fewer than are free. Other
 * requests wait until their call ends: callers take turns, and so do the calls of each.
 */
export class SharedSlots {
  readonly #slots: FairSemaphore;
  readonly #heldBy = new Shares();

  /** @param maxWaiting beyond, a request of the caller with the most of them is refused */
  constructor(size: number, maxWaiting?: number) {
    this.#slots = new FairSemaphore(size, maxWaiting);
  }

  get free(): number {
    return this.#slots.free;
  }

  take({ caller, outermostId, signal }: Requester): Settled | Omit<Queued, "position"> {
    const slots = this.#slots;
    const heldBy = this.#heldBy;
    const slot = slots.take([caller, outermostId], {
      get limit() {
        return slots.size - heldBy.of(caller);
      },
      // Its turn has come: it holds a slot from here on.
      isWanted: () => (heldBy.add(caller, 1), true),
      signals: [signal],
    });
    if (slot.kind !== "queued") return this.#counted(caller, slot);
    const turn = slot.turn.then((settled) => this.#counted(caller, settled));
    return { kind: "queued", turn, leave: slot.leave };
  }

  #counted(caller: string, settled: Settled): Settled {
    if (settled.kind === "refused") return settled;
    let isHeld = true;
    const release = (): void => {
      if (!isHeld) return;
      isHeld = false;
      this.#heldBy.add(caller, -1);
      settled.release();
    };
    return { kind: "held", release };
  }
}
