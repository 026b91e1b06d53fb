/**
 * The main module of a dynamic Worker that holds a module of WebAssembly, which is the only other module of it, metered by the kernel. The module reaches nothing but
 * the imports that it is given here.
 */
import { WorkerEntrypoint } from "cloudflare:workers";
import type { IsolateCall } from "@keyhole/kernel";
import { executeCall, MAX_FUEL, readMeterSection, waitingHere, type WasmTool } from "@keyhole/worker-host/wasm/modules";
import type { ModuleStart } from "../loader.ts";
import { type Packet, packed, unpacked } from "../packet.ts";
import { relayed } from "./relay.ts";
import { sealShell } from "./seal.ts";

/** Left for the dynamic Worker to resolve. */
const toolModule = "./tool.wasm";

let tool: WasmTool | undefined;
let memoryBytes = 0;

export default class WasmShell extends WorkerEntrypoint {
  async load(packet: Packet): Promise<object> {
    const start = unpacked(packet) as ModuleStart;
    const { default: module } = (await import(/* @vite-ignore */ toolModule)) as {
      readonly default: WebAssembly.Module;
    };
    const meterSection = readMeterSection(module);
    if (meterSection === undefined)
      return { type: "load-failed", name: "CompileError", message: "the module is not metered" };
    tool = { compiled: { module, names: meterSection.exports }, start, waiting: waitingHere() };
    ({ memoryBytes } = start);
    return { type: "loaded" };
  }

  async call(packet: Packet, target: object): Promise<Packet | undefined> {
    const loaded = tool;
    if (loaded === undefined) return undefined;
    const call = unpacked(packet) as IsolateCall;
    const bounds = { fuel: call.fuel ?? MAX_FUEL, memoryBytes: call.memoryBytes ?? memoryBytes };
    return packed(
      await relayed(this.ctx, call.callId, target, ({ transport }) => executeCall(loaded, call, transport, bounds)),
    );
  }
}

sealShell(WasmShell);
