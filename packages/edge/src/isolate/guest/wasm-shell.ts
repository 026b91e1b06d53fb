/**
 * The main module of a dynamic Worker that holds a module of WebAssembly, which is the only other module of it, metered by the kernel. The module reaches nothing but
 * the imports that it is given here.
 */
import { WorkerEntrypoint } from "cloudflare:workers";
import type { IsolateCall } from "@keyhole/kernel";
import {
  type Executed,
  executeCall,
  MAX_FUEL,
  readMeterSection,
  waitingHere,
  type WasmTool,
} from "@keyhole/worker-host/wasm/modules";
import type { ModuleStart } from "../loader.ts";
import { relayed } from "./relay.ts";
import { sealShell } from "./seal.ts";

/** Left for the dynamic Worker to resolve. */
const toolModule = "./tool.wasm";

let tool: WasmTool | undefined;
let memoryBytes = 0;

export default class WasmShell extends WorkerEntrypoint {
  async load(start: ModuleStart): Promise<object> {
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

  async call(call: IsolateCall, target: object): Promise<Executed | undefined> {
    const loaded = tool;
    if (loaded === undefined) return undefined;
    const bounds = { fuel: call.fuel ?? MAX_FUEL, memoryBytes: call.memoryBytes ?? memoryBytes };
    return relayed(this.ctx, call, target, ({ transport }) => executeCall(loaded, call, transport, bounds));
  }
}

sealShell(WasmShell);
