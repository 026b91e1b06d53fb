import { type Broker, IsolateFailure, type IsolateHost } from "@keyhole/kernel";
import { maxInFlight } from "./gate.ts";
import { faultOf, loadedModule, meteredCode } from "@keyhole/worker-host/wasm/modules";
import { EdgeIsolate, type OnUnresponsive } from "./isolate.ts";
import type { IsolateLoader } from "./loader.ts";

export interface EdgeHostOptions {
  readonly loader: IsolateLoader;
  /** Serve the tools' capabilities. Default: none. */
  readonly brokers?: readonly Broker[];
  /** Who can end the sandbox's process from outside is told here when a guest does not end. */
  readonly onUnresponsive?: OnUnresponsive;
  /**
   * Whether something ends a guest that spins: Cloudflare's CPU limit, or a watchdog over the sandbox. Default `true`; `false` where workerd runs on its own,
   * and there a tool that spins stops everything.
   */
  readonly preempts?: boolean;
}

/**
 * Runs each tool in a dynamic Worker of its own, modules of WebAssembly under fuel: no network, no Node, no bindings. A call's only way out is its own `CallLine`, which checks what comes
 * and goes dead when the call ends.
 *
 * @example
 * const kernel = await createKernel({ host: edgeHost({ loader: sandboxLoader(env.SANDBOX) }), policy });
 */
export function edgeHost({
  loader,
  brokers = [],
  onUnresponsive = () => {},
  preempts = true,
}: EdgeHostOptions): IsolateHost {
  const open = new Set<EdgeIsolate>();
  return {
    name: "edge",
    sources: ["module", "wasm"],
    enforces: ({ source }) => (source === "wasm" ? ["fuel", "memoryBytes"] : []),
    preempts,
    // A call from within keeps its caller's Worker in flight: only who gives out all places can tell when none will come back.
    capacity: maxInFlight,
    brokers,
    check: faultOf,
    async open(tool) {
      if (tool.body.source === "inline")
        throw new IsolateFailure("UNSUPPORTED_HOST", "A dynamic Worker runs packages only.");
      const isolate = await EdgeIsolate.open(
        { loader, onUnresponsive, onClosed: () => open.delete(isolate) },
        tool.body.source === "module" ? tool.body.code : loadedModule(tool, meteredCode(tool)),
        tool.manifest,
      );
      open.add(isolate);
      return isolate;
    },
    async close() {
      for (const isolate of open) isolate.terminate("the host was closed");
    },
  };
}
