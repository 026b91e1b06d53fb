import type { CallPort, IsolateCall, IsolateOutcome } from "@keyhole/kernel";
import type { GuestChannel } from "../../protocol/channel.ts";
import type { SuspendedCall } from "../../protocol/suspended-call.ts";
import { readSnapshot, writeSnapshot } from "./snapshot.ts";
import { type TrackedPort, trackedPort } from "./tracked-port.ts";

/** The calls of an isolate that holds an interpreter: one of them can be put into bytes, and the first can come from there. */
export class ResumableCalls {
  readonly #channel: GuestChannel;
  readonly #calls = new Set<TrackedPort>();
  #before: SuspendedCall | undefined;

  /** @param snapshot of another one, which this one goes on as */
  constructor(channel: GuestChannel, snapshot?: Uint8Array<ArrayBuffer>) {
    this.#channel = channel;
    this.#before = snapshot && readSnapshot(snapshot);
  }

  async call(call: IsolateCall, port: CallPort): Promise<IsolateOutcome> {
    const before = this.#before;
    this.#before = undefined;
    const tracked = trackedPort(port, before);
    this.#calls.add(tracked);
    try {
      return await (before ? this.#channel.resume(call, tracked.port, before) : this.#channel.call(call, tracked.port));
    } finally {
      this.#calls.delete(tracked);
    }
  }

  /** As `Isolate.suspend` says. */
  async suspend(): Promise<Uint8Array<ArrayBuffer> | undefined> {
    const [tracked, ...more] = this.#calls;
    if (!tracked || more.length > 0) return undefined;
    // Earlier answers are on their way to the channel: it arrives within this turn.
    await new Promise((resolve) => setTimeout(resolve, 0));
    const machine = await this.#channel.suspend();
    const { messages, requests, outstanding } = tracked;
    return machine && writeSnapshot({ messages, requests, outstanding, machine });
  }
}
