import type { IsolateCall } from "@keyhole/kernel";
import { openUplink, type Uplink } from "@keyhole/worker-host/guest";
import type { CallTarget } from "../call-channel.ts";
import { type Remote, remote } from "../remote.ts";

/** The one thing of a dynamic Worker's context that is needed here: its end, also while code runs in it. */
interface Abortable {
  readonly abort: (reason: string) => void;
}

/**
 * Runs one call behind a channel to the kernel. What the tool asks for and says goes to the `CallTarget` behind `stub` and what comes back goes to the tool, until `run` has ended. Where
 * the kernel or the call is gone before, the isolate is aborted.
 */
export async function relayed<Outcome>(
  context: Abortable,
  call: IsolateCall,
  stub: object,
  run: (uplink: Uplink) => Promise<Outcome>,
): Promise<Outcome> {
  const target = remote<CallTarget>(stub, ["say", "request", "piece", "pull", "next"]);
  const relay = new Relay(context, target);
  const said: Promise<void>[] = [];
  const uplink = openUplink(call.callId, (message) => {
    if (message.type === "request") void relay.ask(uplink, message);
    else if (message.type === "piece") void relay.send(uplink, message);
    else if (message.type === "pull") void relay.pull(uplink, message);
    else said.push(target.say(message).catch(() => {}));
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
  readonly #target: Remote<CallTarget>;
  running = true;

  constructor(context: Abortable, target: Remote<CallTarget>) {
    this.#context = context;
    this.#target = target;
  }

  async ask(uplink: Uplink, message: { readonly request: number }): Promise<void> {
    try {
      uplink.reply(message.request, await this.#target.request(message));
    } catch {
      this.#context.abort("the kernel is gone");
    }
  }

  /** A call that failed ends without waiting for the pieces that it has sent. */
  async send(uplink: Uplink, message: object): Promise<void> {
    try {
      uplink.pieces.taken(await this.#target.piece(message));
    } catch {
      if (this.running) this.#context.abort("the kernel is gone");
    }
  }

  async pull(uplink: Uplink, message: object): Promise<void> {
    try {
      uplink.pulled(await this.#target.pull(message));
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
