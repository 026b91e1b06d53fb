/** Between two looks at an isolate without a call. */
const LOOK_EVERY_MS = 1_000;
/**
 * Looks in a row without an answer, after which the guest is taken to compute. Looks of the host and no span of time: a machine that slept has looked once. Ten of them are longer than
 * any thread of a busy machine waits for its turn, because this counts against the tool.
 */
const MOST_SILENT = 10;

export interface IdleGuest {
  readonly isIdle: () => boolean;
  readonly ask: () => void;
  /** Called once. */
  readonly onSilent: () => void;
}

/**
 * Watches a guest while no call runs in it. A guest that answers has released its thread. A guest
 * that never answers still runs, and no deadline of a call would end it.
 */
export class IdleWatch {
  readonly #guest: IdleGuest;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #asked = false;
  #silent = 0;

  constructor(guest: IdleGuest) {
    this.#guest = guest;
  }

  /** The last call has ended. Calls do not move the timer: a look finds out whether the guest is idle. */
  begin(): void {
    this.#timer ??= later(() => this.#look());
  }

  /** The guest answered. `false`: it was not asked. */
  heard(): boolean {
    const wasAsked = this.#asked;
    this.#asked = false;
    this.#silent = 0;
    return wasAsked;
  }

  end(): void {
    if (this.#timer !== undefined) clearTimeout(this.#timer);
  }

  #look(): void {
    this.#timer = undefined;
    if (!this.#guest.isIdle()) {
      this.#silent = 0; // The deadline of its call bounds it.
      return;
    }
    if (!this.#asked) {
      this.#asked = true;
      this.#guest.ask();
    } else if (++this.#silent >= MOST_SILENT) return this.#guest.onSilent();
    this.begin();
  }
}

/** Keeps no process of Node alive. */
function later(callback: () => void): ReturnType<typeof setTimeout> {
  const timer = setTimeout(callback, LOOK_EVERY_MS);
  (timer as { unref?: () => void }).unref?.();
  return timer;
}
