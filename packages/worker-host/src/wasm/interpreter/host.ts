import { type Broker, type Isolate, IsolateFailure, type IsolateHost, type RegisteredTool } from "@keyhole/kernel";
import { openChannel } from "../../protocol/channel.ts";
import shell from "../guest/shell.ts?iife";
import type { Engine } from "./engine.ts";
import { bootImage, openVmPort, type VmBounds } from "./port.ts";
import type { Image } from "./vm.ts";

export interface InterpreterOptions extends VmBounds {
  /** QuickJS, metered: {@link compileEngine} or {@link builtEngine}. */
  readonly engine: Engine;
  /** What serves capabilities. Default: none. */
  readonly brokers?: readonly Broker[];
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
export function interpreterHost({ engine, brokers = [], ...bounds }: InterpreterOptions): IsolateHost {
  const open = new Set<Isolate["terminate"]>();
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
      return openIsolate(tool, tool.body.code, openVmPort(engine, image, bounds), open);
    },
    async close() {
      for (const terminate of open) terminate("the host was closed");
    },
  };
}

async function openIsolate(
  tool: RegisteredTool,
  code: string,
  port: ReturnType<typeof openVmPort>,
  open: Set<Isolate["terminate"]>,
): Promise<Isolate> {
  const channel = openChannel(port, (reason) => terminate(`protocol: ${reason}`), { metered: true });
  const terminate = (reason: string): void => {
    channel.close(reason);
    open.delete(terminate);
  };
  open.add(terminate);
  await channel.ready;
  const loaded = await channel.load(code);
  if (loaded.kind !== "loaded") {
    terminate("the tool did not load");
    const reason = loaded.kind === "failed" ? `${loaded.name}: ${loaded.message}` : loaded.reason;
    throw new IsolateFailure("TOOL_ERROR", `The module of ${tool.id} failed to load: ${reason}.`);
  }
  return {
    call: (call, callPort) => channel.call(call, callPort),
    terminate,
    get alive() {
      return channel.open;
    },
  };
}
