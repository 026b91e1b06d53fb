import type { IsolateCall } from "@keyhole/kernel";
import { openUplink, type Uplink } from "../../guest/uplink.ts";
import type { GuestPort } from "../../protocol/channel.ts";
import type { Exhaustion, GuestMessage, HostMessage, LoadedCode, MeterMessage } from "../../protocol/message.ts";
import { type Waiting, waitingHere } from "../machine/suspend.ts";
import { readMeterSection } from "../meter/meter-section.ts";
import { MAX_FUEL } from "../meter/fuel-global.ts";
import { type Executed, executeCall } from "./execute.ts";
import type { WasmTool } from "./run.ts";

export interface WasmPortOptions {
  /** Fuel of a call that has no bound of its own. Default: as much as can be counted, so that only the deadline ends it. */
  readonly fuel?: number;
  /** Default: in place where the engine can. */
  readonly waiting?: Waiting;
}

/**
 * A relay around a metered module, as the port that a channel owns. It runs on this thread: nothing else happens here before the module waits for an answer or has
 * ended. The module reaches nothing but its imports, so that every message of this port is the relay's own.
 */
export function openWasmPort(options: WasmPortOptions = {}): GuestPort {
  return new WasmPort(options);
}

class WasmPort implements GuestPort {
  onmessage: GuestPort["onmessage"] = null;
  onmessageerror: GuestPort["onmessageerror"] = null;
  readonly #options: WasmPortOptions;
  readonly #uplinks = new Map<string, Uplink>();
  #tool: WasmTool | undefined;
  #memoryBytes = 0;
  #isOpen = true;

  constructor(options: WasmPortOptions) {
    this.#options = options;
    queueMicrotask(() => this.#say({ type: "ready", imports: true, wasm: true }));
  }

  postMessage(message: HostMessage): void {
    // As a port does it: the sender continues first.
    queueMicrotask(() => void this.#handle(message));
  }

  close(): void {
    this.#isOpen = false;
    for (const uplink of this.#uplinks.values()) uplink.close();
  }

  async #handle(message: HostMessage): Promise<void> {
    if (!this.#isOpen) return;
    switch (message.type) {
      case "load":
        return this.#load(message.code);
      case "call":
        return this.#call(message.call);
      case "cancel":
        return this.#uplinks.get(message.callId)?.cancel();
      case "reply":
        return this.#uplinks.get(message.callId)?.reply(message.request, message.reply);
      case "taken":
      case "pulled":
        // A module's output is no stream, and it takes no body: it has no pieces that could be taken, or given.
        return;
    }
  }

  async #load(code: LoadedCode): Promise<void> {
    try {
      if (typeof code === "string") throw new TypeError("this relay runs WebAssembly");
      const module = code.module instanceof WebAssembly.Module ? code.module : await compile(code.module);
      const meterSection = readMeterSection(module);
      if (meterSection === undefined) throw new TypeError("the module is not metered");
      const { waiting = waitingHere() } = this.#options;
      this.#tool = { compiled: { module, names: meterSection.exports }, start: code, waiting };
      this.#memoryBytes = code.memoryBytes;
      this.#say({ type: "loaded" });
    } catch (error) {
      const message = error instanceof Error ? error.message : "";
      this.#say({ type: "load-failed", name: "CompileError", message: message.slice(0, 500) });
    }
  }

  async #call(call: IsolateCall): Promise<void> {
    if (this.#tool === undefined) return;
    const { callId, fuel = this.#options.fuel ?? MAX_FUEL, memoryBytes = this.#memoryBytes } = call;
    const uplink = openUplink(callId, (message) => this.#say(message));
    this.#uplinks.set(callId, uplink);
    const executed = await executeCall(this.#tool, call, uplink.transport, { fuel, memoryBytes });
    uplink.close();
    this.#uplinks.delete(callId);
    this.#end(callId, executed);
  }

  #end(callId: string, { outcome, usage }: Executed): void {
    this.#say({ type: "usage", callId, ...usage });
    if (isExhausted(outcome)) this.#say({ type: "exhausted", callId, outcome });
    else if (outcome.kind !== "lost") this.#say({ type: "outcome", callId, outcome });
  }

  #say(data: GuestMessage | MeterMessage): void {
    if (this.#isOpen) this.onmessage?.({ data } as MessageEvent);
  }
}

function isExhausted(outcome: Executed["outcome"]): outcome is Exhaustion["outcome"] {
  const { kind } = outcome;
  return kind === "out-of-fuel" || kind === "out-of-memory" || kind === "too-large";
}

/** The types of Workers leave it out: nothing can be compiled there, and trying says so. */
function compile(bytes: Uint8Array<ArrayBuffer>): Promise<WebAssembly.Module> {
  return (WebAssembly as unknown as { compile(bytes: Uint8Array): Promise<WebAssembly.Module> }).compile(bytes);
}
