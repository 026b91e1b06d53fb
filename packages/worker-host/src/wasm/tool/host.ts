import {
  type Broker,
  hashBytes,
  type Isolate,
  IsolateFailure,
  type IsolateHost,
  type RegisteredTool,
} from "@keyhole/kernel";
import { knownOptions } from "@keyhole/kernel/foreign";
import { GuestChannel } from "../../protocol/channel.ts";
import type { LoadedModule } from "../../protocol/message.ts";
import type { Waiting } from "../machine/suspend.ts";
import { readMeterSection } from "../meter/meter-section.ts";
import { faultOf, loadedModule, meteredCode } from "./load.ts";
import { openWasmPort, type WasmPortOptions } from "./port.ts";

export interface WasmHostOptions {
  /** Fuel of a call that has no bound of its own. Default 10,000,000,000: about a second of an ordinary machine. */
  readonly fuel?: number;
  /**
   * Modules that were metered when the program was built, for places where nothing may be compiled from bytes. Each stands for the original whose digest it names. Believe
   * only what you built: it is not looked at again. Default: none, and every module is metered and compiled here.
   */
  readonly built?: readonly WebAssembly.Module[];
  /** How a module waits for an answer. Both give the same output for the same fuel. Default: `stack` where the engine can (JSPI), else `replay`. */
  readonly waiting?: Waiting;
  /** The brokers that serve requests. Default: none. */
  readonly brokers?: readonly Broker[];
}

/** Nothing preempts a loop on this thread but its fuel. */
const DEFAULT_FUEL = 10_000_000_000;

/**
 * Runs tools of source `wasm` on this thread, in any place that has WebAssembly. Fuel, memory and
 * call depth are exact and the same everywhere. A tool that never yields holds this thread until
 * its fuel ends. `nodeHost()` and `browserHost()` run the same tools in their own thread.
 *
 * @throws TypeError when a module in `built` does not say that it is metered
 * @example
 * const kernel = await createKernel({ host: wasmHost(), policy });
 */
export function wasmHost(options: WasmHostOptions = {}): IsolateHost {
  const {
    fuel = DEFAULT_FUEL,
    built = [],
    brokers = [],
    waiting,
  } = knownOptions(options, { fuel: 1, built: true, brokers: true, waiting: true }, "wasmHost");
  const open = new Set<Isolate["terminate"]>();
  const modules = new Map(built.map((module) => [originalOf(module), module]));
  return {
    name: "wasm",
    sources: ["wasm"],
    enforces: ["fuel", "memoryBytes"],
    preempts: false,
    brokers,
    check: faultOf,
    async open(tool) {
      const module = builtFor(tool, modules) ?? meteredCode(tool);
      return openModule(loadedModule(tool, module), tool.id, { fuel, ...(waiting && { waiting }) }, open);
    },
    async close() {
      for (const terminate of open) terminate("the host was closed");
    },
  };
}

function originalOf(module: WebAssembly.Module): string {
  const meterSection = readMeterSection(module);
  if (meterSection === undefined) throw new TypeError("This version of Keyhole did not meter this module.");
  return meterSection.originalHash;
}

function builtFor(
  { body }: RegisteredTool,
  built: ReadonlyMap<string, WebAssembly.Module>,
): WebAssembly.Module | undefined {
  return built.size > 0 && body.source === "wasm" ? built.get(hashBytes(body.code)) : undefined;
}

/** A relay around a module, on this thread. @throws IsolateFailure */
export async function openModule(
  code: LoadedModule,
  name: string,
  options: WasmPortOptions = {},
  open: Set<Isolate["terminate"]> = new Set(),
): Promise<Isolate> {
  const channel = new GuestChannel(openWasmPort(options), (reason) => terminate(`protocol: ${reason}`), {
    metered: true,
  });
  const terminate = (reason: string): void => {
    channel.close(reason);
    open.delete(terminate);
  };
  open.add(terminate);
  await channel.ready;
  const loaded = await channel.load(code);
  if (loaded.kind !== "loaded") {
    terminate("the tool did not load");
    const reason = loaded.kind === "failed" ? loaded.message : loaded.reason;
    throw new IsolateFailure("TOOL_ERROR", `The module of ${name} does not compile here: ${reason}.`);
  }
  return {
    call: (call, callPort) => channel.call(call, callPort),
    terminate,
    get alive() {
      return channel.open;
    },
  };
}
