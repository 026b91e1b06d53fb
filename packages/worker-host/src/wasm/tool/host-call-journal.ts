import type { CallPort, CapabilityReply, CapabilityRequest } from "@keyhole/kernel";
import { boundedMessage } from "@keyhole/kernel/guest";
import { ReplayJournal } from "../machine/replay-journal.ts";

export type Port = Pick<CallPort, "request" | "log" | "signal">;

/** The messages between a call and its host, over all runs of the call. */
export class HostCallJournal {
  readonly journal: ReplayJournal = new ReplayJournal();
  /** Why the last request was refused, if it was. */
  refused: string | undefined;
  readonly #port: Port;
  /** Lines of this run, and of all runs. A run does not repeat a line of an earlier run. */
  #lines = 0;
  #said = 0;

  constructor(port: Port) {
    this.#port = port;
  }

  again(): void {
    this.journal.rewind();
    this.#lines = 0;
  }

  ask(request: CapabilityRequest): CapabilityReply {
    const reply = this.journal.ask(() => untilCancelled(this.#port.request(request), this.#port.signal));
    this.refused = reply.ok ? undefined : reply.error.code;
    return reply;
  }

  say(level: "debug" | "info" | "warn" | "error", message: string): void {
    this.#lines += 1;
    if (this.#lines <= this.#said) return;
    this.#said = this.#lines;
    this.#port.log({ level, message: boundedMessage(message) });
  }
}

const cancelled: CapabilityReply = {
  ok: false,
  error: { code: "CANCELLED", message: "The caller cancelled.", hint: "" },
};

/** A module hears of a cancellation when it asks for something. */
function untilCancelled(reply: Promise<CapabilityReply>, signal: AbortSignal): Promise<CapabilityReply> {
  if (signal.aborted) return Promise.resolve(cancelled);
  return new Promise((resolve) => {
    const cancel = (): void => resolve(cancelled);
    signal.addEventListener("abort", cancel, { once: true });
    void reply.then((answer) => {
      signal.removeEventListener("abort", cancel);
      resolve(answer);
    });
  });
}
