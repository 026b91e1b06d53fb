import type { Isolate } from "@keyhole/kernel";
import { FairSemaphore } from "@keyhole/kernel/fair-semaphore";
import { nobodyWaits } from "../../isolate-slot.ts";
import type { LoadedModule } from "../../protocol/message.ts";
import { pathOf, type Requester } from "../../requester.ts";

/** Opens an isolate for a metered module, as a host does it for tools of source `wasm`. `isWanted`: as in `IsolateHost.open`. @throws IsolateFailure */
export type OpenModule = (module: LoadedModule, name: string, isWanted: () => boolean) => Promise<Isolate>;

/** An isolate, and the command whose module it holds. */
interface Held {
  readonly name: string;
  readonly isolate: Isolate;
}

/** One isolate in use by one run. */
export interface CommandLease {
  readonly isolate: Isolate;
  /** Once, when the run has ended or was stopped. */
  readonly giveBack: () => void;
}

/**
 * The isolates in which commands run, one run at a time each. No run leaves anything in one, so that the next run of the same command takes it over. A run without
 * a free isolate ends the one that is idle longest. Callers take turns and have shares, as at the broker.
 */
export class CommandIsolates {
  readonly #open: OpenModule;
  readonly #idle: Held[] = [];
  readonly #slots: FairSemaphore;

  /** @param places isolates at the same time, idle ones included */
  constructor(open: OpenModule, places: number) {
    this.#open = open;
    this.#slots = new FairSemaphore(places, { hasShares: true });
  }

  /**
   * Waits for its turn. Rejects with what opening rejects with.
   *
   * @param requester when its signal aborts, the run leaves the queue, and this rejects
   */
  async take(name: string, module: LoadedModule, requester: Requester): Promise<CommandLease> {
    const slot = this.#slots.take(pathOf(requester), { signals: [requester.signal] });
    const turn = slot.kind === "queued" ? await slot.turn : slot;
    if (turn.kind === "refused") throw nobodyWaits();
    const held = this.#idleOf(name);
    if (held !== undefined) return this.#lease(held, turn.release);
    if (this.#idle.length > this.#slots.free) this.#idle.shift()?.isolate.terminate("another command needs its place");
    try {
      return this.#lease(
        { name, isolate: await this.#open(module, name, () => !requester.signal.aborted) },
        turn.release,
      );
    } catch (error) {
      turn.release();
      throw error;
    }
  }

  #idleOf(name: string): Held | undefined {
    const index = this.#idle.findIndex((idle) => idle.name === name && idle.isolate.alive);
    return index < 0 ? undefined : this.#idle.splice(index, 1)[0];
  }

  #lease(held: Held, release: () => void): CommandLease {
    const giveBack = (): void => {
      if (held.isolate.alive) this.#idle.push(held);
      release();
    };
    return { isolate: held.isolate, giveBack };
  }
}
