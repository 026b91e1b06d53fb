import type { CapabilityReply } from "@keyhole/kernel";
import { openUplink, type Uplink } from "@keyhole/worker-host/guest";
import type { CallEnd } from "../call-channel.ts";
import { packed, unpacked } from "../packet.ts";
import { type Remote, remote } from "../remote.ts";

/** The one thing of a dynamic Worker's context that is needed here: its end, also while code runs in it. */
interface Abortable {
  readonly abort: (reason: string) => void;
}

/**
 * Runs one call behind a channel to the kernel. What the tool asks for and says goes to the `CallEnd` behind `stub` and what comes back goes to the tool, until `run` has ended. Where
 * the kernel or the call is gone before, the isolate is aborted.
 */
export async function relayed<Outcome>(
  context: Abortable,
  callId: string,
  stub: object,
  run: (uplink: Uplink) => Promise<Outcome>,
): Promise<Outcome> {
  const target = remote<CallEnd>(stub, ["say", "request", "piece", "pull", "next"]);
  const relay = new Relay(context, target);
  const said: Promise<void>[] = [];
  const uplink = openUplink(callId, (message) => {
    if (message.type === "request") void relay.ask(uplink, message);
    else if (message.type === "piece") void relay.send(uplink, message);
    else if (message.type === "pull") void relay.pull(uplink, message);
    else said.push(target.say(packed(message)).catch(() => {}));
  });
  void relay.listen(uplink);
  try {
    return await run(uplink);
  } finally {
    relay.running = false;
    uplink.close();
    // Logs travel on their own; the answer must not overtake them.
    await Promise.all(said);
  }
}

class Relay {
  readonly #context: Abortable;
  readonly #target: Remote<CallEnd>;
  running = true;

  constructor(context: Abortable, target: Remote<CallEnd>) {
    this.#context = context;
    this.#target = target;
  }

  async ask(uplink: Uplink, message: { readonly request: number }): Promise<void> {
    try {
      const reply = unpacked(await this.#target.request(packed(message)));
      // The kernel made it.
      uplink.reply(message.request, reply as CapabilityReply);
    } catch {
      this.#context.abort("the kernel is gone");
    }
  }

  /** A call that failed ends without waiting for the pieces that it has sent. */
  async send(uplink: Uplink, message: object): Promise<void> {
    try {
      uplink.pieces.taken(await this.#target.piece(packed(message)));
    } catch {
      if (this.running) this.#context.abort("the kernel is gone");
    }
  }

  async pull(uplink: Uplink, message: object): Promise<void> {
    try {
      uplink.pulled(await this.#target.pull(packed(message)));
    } catch {
      if (this.running) this.#context.abort("the kernel is gone");
    }
  }

  /** Hears of the cancellation, then of the call's end; an end that comes from outside stops the isolate. */
  async listen(uplink: Uplink): Promise<void> {
    try {
      if ((await this.#target.next()) === "cancelled") {
        uplink.cancel();
        await this.#target.next();
      }
    } catch {
      // The kernel is gone: there is no more work.
    }
    if (this.running) this.#context.abort("the call has ended");
  }
}
