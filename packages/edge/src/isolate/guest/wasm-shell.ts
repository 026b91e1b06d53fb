/**
 * The main module of a dynamic Worker that holds a module of WebAssembly, which is the only other module of it, metered by the kernel. The module reaches nothing but
 * the imports that it is given here.
 */
import { WorkerEntrypoint } from "cloudflare:workers";
import type { IsolateCall } from "@keyhole/kernel";
import { openUplink, type Uplink } from "@keyhole/worker-host/guest";
import {
  type Executed,
  executeCall,
  MAX_FUEL,
  readStamp,
  waitingHere,
  type WasmTool,
} from "@keyhole/worker-host/wasm/modules";
import type { CallTarget } from "../call-line.ts";
import type { ModuleStart } from "../loader.ts";

/** Left for the dynamic Worker to resolve. */
const toolModule = "./tool.wasm";

let tool: WasmTool | undefined;
let memoryBytes = 0;

export default class WasmShell extends WorkerEntrypoint {
  async load(start: ModuleStart): Promise<object> {
    const { default: module } = (await import(/* @vite-ignore */ toolModule)) as {
      readonly default: WebAssembly.Module;
    };
    const stamp = readStamp(module);
    if (stamp === undefined) return { type: "load-failed", name: "CompileError", message: "the module is not metered" };
    tool = { compiled: { module, names: stamp.exports }, start, waiting: waitingHere() };
    ({ memoryBytes } = start);
    return { type: "loaded" };
  }

  async call(call: IsolateCall, target: CallTarget): Promise<Executed | undefined> {
    if (tool === undefined) return undefined;
    const said: Promise<void>[] = [];
    const uplink = openUplink(call.callId, (message) => {
      if (message.type === "request") void this.#ask(target, uplink, message);
      else said.push(target.say(message).catch(() => {}));
    });
    const watch = { running: true };
    void this.#listen(target, uplink, watch);
    try {
      const bounds = { fuel: call.fuel ?? MAX_FUEL, memoryBytes: call.memoryBytes ?? memoryBytes };
      return await executeCall(tool, call, uplink.transport, bounds);
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
