/**
 * The main module of every dynamic Worker: seals the realm, then loads the tool beside it, then runs its calls. What it returns is only as
 * trustworthy as the tool, which shares its realm; the host checks all of it.
 */
import { WorkerEntrypoint } from "cloudflare:workers";
import { type IsolateCall, runCall, thrownOutcome } from "@keyhole/kernel";
import { openUplink, seal, type Uplink } from "@keyhole/worker-host/guest";
import type { CallTarget } from "../call-line.ts";

const realm = seal(globalThis);

/** Left for the dynamic Worker to resolve, in which the tool is the only other module. */
const toolModule = "./tool.js";

let tool: unknown;

export default class Shell extends WorkerEntrypoint {
  async load(): Promise<object> {
    try {
      tool = ((await import(/* @vite-ignore */ toolModule)) as { readonly default?: unknown }).default;
      return { type: "loaded" };
    } catch (thrown) {
      const { name, message } = thrownOutcome(thrown);
      return { type: "load-failed", name, message };
    }
  }

  async call(call: IsolateCall, target: CallTarget): Promise<object> {
    const said: Promise<void>[] = [];
    const watch = { running: true };
    const uplink = openUplink(call.callId, (message) => {
      if (message.type === "request") void this.#ask(target, uplink, message);
      else if (message.type === "piece") void this.#send(target, uplink, message, watch);
      else said.push(target.say(message).catch(() => {}));
    });
    void this.#listen(target, uplink, watch);
    try {
      const outcome = await runCall(tool, call, uplink.transport, realm);
      if (call.outputKind === "stream" && outcome.kind === "returned") await uplink.pieces.drained();
      return outcome;
    } finally {
      watch.running = false;
      uplink.close();
      // Logs travel on their own; the answer must not overtake them.
      await Promise.all(said);
    }
  }

  async #ask(target: CallTarget, uplink: Uplink, message: { readonly request: number }): Promise<void> {
    try {
      uplink.reply(message.request, await target.request(message));
    } catch {
      this.ctx.abort("the kernel is gone");
    }
  }

  /** A call that failed ends without waiting for the pieces that it has sent. */
  async #send(
    target: CallTarget,
    uplink: Uplink,
    message: object,
    watch: { readonly running: boolean },
  ): Promise<void> {
    try {
      uplink.pieces.taken(await target.piece(message));
    } catch {
      if (watch.running) this.ctx.abort("the kernel is gone");
    }
  }

  /** Hears of the cancellation, then of the call's end; an end that comes from outside stops the isolate. */
  async #listen(target: CallTarget, uplink: Uplink, watch: { readonly running: boolean }): Promise<void> {
    try {
      if ((await target.next()) === "cancelled") {
        uplink.cancel();
        await target.next();
      }
    } catch {
      // The kernel is gone: there is nobody to work for.
    }
    if (watch.running) this.ctx.abort("the call has ended");
  }
}
