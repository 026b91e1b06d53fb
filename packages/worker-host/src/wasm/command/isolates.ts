import type { Isolate } from "@keyhole/kernel";
import { nobodyWaits } from "../../isolate-slot.ts";
import type { LoadedModule } from "../../protocol/message.ts";

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
 * The isolates in which commands run, one run at a time each. No run leaves anything in one, so that the next run of the same command takes it over. Who needs
 * a place ends the one that is idle longest.
 */
export class CommandIsolates {
  readonly #open: OpenModule;
  readonly #idle: Held[] = [];
  readonly #waiting: { readonly name: string; readonly go: (held: Held | undefined) => void }[] = [];
  #free: number;

  /** @param places isolates at the same time, idle ones included */
  constructor(open: OpenModule, places: number) {
    this.#open = open;
    this.#free = places;
  }

  /**
   * Waits for its turn. Rejects with what opening rejects with.
   *
   * @param ended aborts when nobody wants it any more: then it leaves the queue, and rejects
   */
  async take(name: string, module: LoadedModule, ended: AbortSignal): Promise<CommandLease> {
    const held = this.#idleOf(name) ?? (await this.#place(name, ended));
    if (held !== undefined) return this.#lease(held);
    try {
      return this.#lease({ name, isolate: await this.#open(module, name, () => !ended.aborted) });
    } catch (error) {
      this.#hand(undefined);
      throw error;
    }
  }

  #idleOf(name: string): Held | undefined {
    const index = this.#idle.findIndex((idle) => idle.name === name && idle.isolate.alive);
    return index < 0 ? undefined : this.#idle.splice(index, 1)[0];
  }

  /** `undefined`: an empty place. */
  async #place(name: string, ended: AbortSignal): Promise<Held | undefined> {
    if (this.#free > 0) this.#free -= 1;
    else if (this.#idle.length > 0) this.#idle.shift()?.isolate.terminate("another command needs its place");
    else return this.#turn(name, ended);
    return undefined;
  }

  #turn(name: string, ended: AbortSignal): Promise<Held | undefined> {
    return new Promise((resolve, reject) => {
      const waiting = {
        name,
        go(held: Held | undefined): void {
          ended.removeEventListener("abort", leave);
          resolve(held);
        },
      };
      const leave = (): void => {
        this.#waiting.splice(this.#waiting.indexOf(waiting), 1);
        reject(nobodyWaits());
      };
      this.#waiting.push(waiting);
      ended.addEventListener("abort", leave, { once: true });
    });
  }

  #lease(held: Held): CommandLease {
    return { isolate: held.isolate, giveBack: () => this.#hand(held.isolate.alive ? held : undefined) };
  }

  /** To whoever waits for this command, else to whoever waits. */
  #hand(held: Held | undefined): void {
    const same = this.#waiting.findIndex(({ name }) => name === held?.name);
    const [next] = this.#waiting.splice(Math.max(same, 0), 1);
    if (next === undefined && held !== undefined) this.#idle.push(held);
    else if (next === undefined) this.#free += 1;
    else if (same >= 0) next.go(held);
    else {
      held?.isolate.terminate("another command needs its place");
      next.go(undefined);
    }
  }
}
