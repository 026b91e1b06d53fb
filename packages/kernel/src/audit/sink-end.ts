import type { AuditSink } from "./sink.ts";

/** Closes a sink once, behind the last event of its log. */
export class SinkEnd {
  readonly #sink: Pick<AuditSink, "close">;
  readonly #isQuiet: () => boolean;
  #state: "open" | "closing" | "closed" = "open";

  /** @param isQuiet whether no event is on its way, and none can follow */
  constructor(sink: Pick<AuditSink, "close">, isQuiet: () => boolean) {
    this.#sink = sink;
    this.#isQuiet = isQuiet;
  }

  /** Behind what makes events, also where it fails. Does not wait for calls that still run. */
  async behind(users: Promise<unknown>, flush: () => Promise<void>): Promise<void> {
    try {
      await users;
    } finally {
      await flush().catch(() => {}); // A log that failed has no more events, and its sink is closed as well.
      if (this.#state === "open") this.#state = "closing";
      await this.look();
    }
  }

  /** To be asked behind each event. */
  async look(): Promise<void> {
    if (this.#state !== "closing" || !this.#isQuiet()) return;
    this.#state = "closed";
    await this.#sink.close?.();
  }
}
