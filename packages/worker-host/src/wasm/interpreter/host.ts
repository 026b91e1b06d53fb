import { type Broker, type Isolate, IsolateFailure, type IsolateHost } from "@keyhole/kernel";
import { knownOptions } from "@keyhole/kernel/foreign";
import { GuestChannel } from "../../protocol/channel.ts";
import { loadFailure } from "../../protocol/load-failure.ts";
import { moduleCode, moduleFault } from "../../protocol/module-code.ts";
import type { Image } from "../../protocol/suspended-call.ts";
import shell from "keyhole:../guest/shell.ts?iife";
import type { Engine } from "./engine.ts";
import { bootImage, openVmPort, type VmBounds } from "./port.ts";
import { ResumableCalls } from "./resumable.ts";
import { snapshotKindOf } from "./snapshot.ts";
import { takesTurns } from "./turns.ts";

export interface InterpreterOptions extends VmBounds {
  /** QuickJS, metered: {@link compileEngine} or {@link builtEngine}. */
  readonly engine: Engine;
  /** The brokers that serve requests. Default: none. */
  readonly brokers?: readonly Broker[];
}

/**
 * Runs tool packages in QuickJS, on this thread, in any place that has WebAssembly. Fuel, memory
 * and call depth are exact and the same everywhere. Where the engine can suspend a stack (JSPI), a
 * tool that never yields runs in slices of some milliseconds. The kernel stops it at its deadline.
 * Elsewhere such a tool holds this thread until its fuel ends. The same is true while its module
 * loads, and within one long function of the language such as `JSON.parse`. So set a bound: `fuel`,
 * or each tool's own. On Node `nodeHost()` runs the same interpreter in its own thread.
 *
 * @example
 * const engine = await compileEngine(bytes); // of quickjs-wasi/quickjs.wasm
 * const kernel = await createKernel({ host: interpreterHost({ engine, fuel: 2_000_000_000 }), policy });
 */
export function interpreterHost(options: InterpreterOptions): IsolateHost {
  const {
    engine,
    brokers = [],
    ...bounds
  } = knownOptions(options, { engine: true, brokers: true, fuel: 1, memoryBytes: 1 }, "interpreterHost");
  const terminators = new Set<Isolate["terminate"]>();
  let image: Image | undefined;
  const open = (): [GuestChannel, Isolate["terminate"]] => {
    image ??= bootImage(engine, shell);
    const channel = new GuestChannel(
      openVmPort(engine, image, bounds, true),
      (reason) => terminate(`protocol: ${reason}`),
      {
        metered: true,
      },
    );
    const terminate = (reason: string): void => {
      channel.close(reason);
      terminators.delete(terminate);
    };
    terminators.add(terminate);
    return [channel, terminate];
  };
  return {
    name: "interpreter",
    sources: ["module"],
    enforces: ["fuel", "memoryBytes"],
    preempts: takesTurns(),
    brokers,
    check: moduleFault,
    async open(tool) {
      if (tool.body.source !== "module")
        throw new IsolateFailure(
          "UNSUPPORTED_HOST",
          `The interpreter runs modules, and ${tool.id} is ${tool.body.source}.`,
        );
      const [channel, terminate] = open();
      await channel.ready;
      const loaded = await channel.load(moduleCode(tool), tool.manifest.bounds.memoryBytes);
      if (loaded.kind === "loaded") return isolateOf(channel, terminate);
      terminate("the tool did not load");
      throw loadFailure(tool.id, loaded);
    },
    snapshotKind: async () => snapshotKindOf(engine, shell),
    async thaw(_, snapshot) {
      const [channel, terminate] = open();
      await channel.ready;
      return isolateOf(channel, terminate, snapshot);
    },
    async close() {
      for (const terminate of terminators) terminate("the host was closed");
    },
  };
}

function isolateOf(
  channel: GuestChannel,
  terminate: Isolate["terminate"],
  snapshot?: Uint8Array<ArrayBuffer>,
): Isolate {
  const calls = new ResumableCalls(channel, snapshot);
  return {
    call: (call, port) => calls.call(call, port),
    suspend: () => calls.suspend(),
    terminate,
    get alive() {
      return channel.open;
    },
  };
}
