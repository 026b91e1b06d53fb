import {
  type Broker,
  type CallPort,
  type Isolate,
  type IsolateCall,
  IsolateFailure,
  type IsolateHost,
  type IsolateOutcome,
  type RegisteredTool,
} from "@keyhole/kernel";
import { type GuestChannel, openChannel } from "../../protocol/channel.ts";
import shell from "../guest/shell.ts?iife";
import type { Engine } from "./engine.ts";
import { bootImage, type InterpreterPort, openVmPort, resumeVmPort, type VmBounds } from "./port.ts";
import { type ResumeResult, type Suspension, type SuspensionOptions, Suspender } from "./suspender.ts";
import { type CallBefore, type TrackedPort, trackedPort } from "./tracked-port.ts";
import type { Image } from "./vm.ts";

export interface InterpreterOptions extends VmBounds {
  /** QuickJS, metered: {@link compileEngine} or {@link builtEngine}. */
  readonly engine: Engine;
  /** What serves capabilities. Default: none. */
  readonly brokers?: readonly Broker[];
  /** Lets calls that wait be put into bytes. Default: they cannot be. */
  readonly suspension?: SuspensionOptions;
}

/** An isolate whose call can be put aside while it waits. */
export interface SuspendableIsolate extends Isolate {
  /**
   * Puts the one call that this isolate runs into bytes, and ends the isolate: the promise of its `call` settles as `lost`, and nothing of it goes on here. What was answered
   * before is delivered first; what was not is asked again by {@link InterpreterHost.resume}, so answer it there from what you know where it must not be done twice.
   */
  suspend(): Promise<Suspension>;
}

export interface InterpreterHost extends IsolateHost {
  open(tool: RegisteredTool): Promise<SuspendableIsolate>;
  /**
   * Goes on with a suspended call, here or in another process, on any host of this kind with the same engine and key: for the same outcome, the same fuel and the same requests.
   * The bytes are taken to be hostile. They are refused when they are not what was sealed, when they were used before, and when tool or kernel is another.
   */
  resume(tool: RegisteredTool, snapshot: Uint8Array, port: CallPort): Promise<ResumeResult<SuspendableIsolate>>;
}

/**
 * Runs tool packages in QuickJS, on this thread, in any place that has WebAssembly. Fuel, memory and call depth are exact and the same everywhere; a
 * tool that never yields ends when its fuel does, and until then nothing else happens on this thread. Give it a bound: `fuel`, or each
 * tool's own. On Node `nodeHost()` runs the same interpreter in a thread of its own.
 *
 * @example
 * const engine = await compileEngine(bytes); // of quickjs-wasi/quickjs.wasm
 * const kernel = await createKernel({ host: interpreterHost({ engine, fuel: 2_000_000_000 }), policy });
 */
export function interpreterHost({ engine, brokers = [], suspension, ...bounds }: InterpreterOptions): InterpreterHost {
  const open = new Set<Isolate["terminate"]>();
  const suspender = new Suspender(engine, shell, suspension);
  let image: Image | undefined;
  return {
    name: "interpreter",
    sources: ["module"],
    enforces: ["fuel", "memoryBytes"],
    preempts: false,
    brokers,
    async open(tool) {
      if (tool.body.source !== "module")
        throw new IsolateFailure(
          "UNSUPPORTED_HOST",
          `The interpreter runs modules, and ${tool.id} is ${tool.body.source}.`,
        );
      image ??= bootImage(engine, shell);
      const isolate = new InterpreterIsolate(tool, openVmPort(engine, image, bounds), suspender, open);
      await isolate.load(tool.body.code);
      return isolate;
    },
    async resume(tool, bytes, port) {
      const read = await suspender.read(tool, bytes);
      if (!read.ok) return read;
      const { call, used, image: suspended } = read.snapshot;
      const vmPort = resumeVmPort(engine, { image: suspended, callId: call.callId, used }, bounds);
      const isolate = new InterpreterIsolate(tool, vmPort, suspender, open);
      return { ok: true, isolate, callId: call.callId, outcome: isolate.resume(call, port, read.snapshot) };
    },
    async close() {
      for (const terminate of open) terminate("the host was closed");
    },
  };
}

class InterpreterIsolate implements SuspendableIsolate {
  readonly terminate: Isolate["terminate"];
  readonly #tool: RegisteredTool;
  readonly #port: InterpreterPort;
  readonly #channel: GuestChannel;
  readonly #suspender: Suspender;
  readonly #calls = new Map<string, { readonly call: IsolateCall; readonly tracked: TrackedPort }>();

  constructor(tool: RegisteredTool, port: InterpreterPort, suspender: Suspender, open: Set<Isolate["terminate"]>) {
    this.#tool = tool;
    this.#port = port;
    this.#suspender = suspender;
    this.#channel = openChannel(port, (reason) => this.terminate(`protocol: ${reason}`), { metered: true });
    this.terminate = (reason) => {
      this.#channel.close(reason);
      open.delete(this.terminate);
    };
    open.add(this.terminate);
  }

  get alive(): boolean {
    return this.#channel.open;
  }

  /** @throws {IsolateFailure} */
  async load(code: string): Promise<void> {
    await this.#channel.ready;
    const loaded = await this.#channel.load(code);
    if (loaded.kind === "loaded") return;
    this.terminate("the tool did not load");
    const reason = loaded.kind === "failed" ? `${loaded.name}: ${loaded.message}` : loaded.reason;
    throw new IsolateFailure("TOOL_ERROR", `The module of ${this.#tool.id} failed to load: ${reason}.`);
  }

  call(call: IsolateCall, port: CallPort): Promise<IsolateOutcome> {
    const tracked = trackedPort(port);
    return this.#running(call, tracked, this.#channel.call(call, tracked.port));
  }

  resume(call: IsolateCall, port: CallPort, before: CallBefore): Promise<IsolateOutcome> {
    const tracked = trackedPort(port, before);
    return this.#running(call, tracked, this.#channel.resume(call, tracked.port, before));
  }

  async suspend(): Promise<Suspension> {
    const [running] = this.#calls.values();
    const suspension = await this.#suspender.write(this.#tool, this.#port, running);
    if (suspension.ok) this.terminate("the call was suspended");
    return suspension;
  }

  async #running(call: IsolateCall, tracked: TrackedPort, outcome: Promise<IsolateOutcome>): Promise<IsolateOutcome> {
    this.#calls.set(call.callId, { call, tracked });
    try {
      return await outcome;
    } finally {
      this.#calls.delete(call.callId);
    }
  }
}
