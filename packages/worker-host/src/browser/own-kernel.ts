import { knownOptions } from "@keyhole/kernel/foreign";
import { createKernel, defaultModeTriggers, type Kernel, type ToolPackage } from "@keyhole/kernel";
import { indexedDbSink } from "../sinks/indexeddb.ts";
import { exposeKernel } from "./expose-kernel.ts";
import { browserHost } from "./host.ts";
import type { KernelClient } from "./kernel-client.ts";
import { startedWorker } from "./kernel-start.ts";
import { keyholeWorker, type KeyholeWorkerOptions, workerOptions } from "./keyhole-worker.ts";
import { multiplexedEndpoint, ownPage } from "./multiplexed-endpoint.ts";
import { remoteFrameContainer } from "./remote-frame-container.ts";
import { pageResources } from "./resources.ts";
import { trusted } from "./trusted-types.ts";

export interface StartKernelOptions extends KeyholeWorkerOptions {
  /** A policy document. */
  readonly policy: unknown;
  /** The tools that the kernel registers. Each is JSON that `keyhole pack` wrote. */
  readonly tools: readonly ToolPackage[];
  /** Where the audit log is: the IndexedDB database `keyhole-audit` of the page's origin, or the worker's memory. Default `browser`. */
  readonly log?: "browser" | "memory";
}

type Asked = Required<Pick<StartKernelOptions, "policy" | "tools" | "log">>;

const LANE = "keyhole.own-kernel";
const WORKER = "keyhole-own-kernel";

/**
 * Starts a kernel in a worker that runs the module at `url`, and connects the page to it. The module calls {@link serveOwnKernel} when it is loaded.
 *
 * Rejects with `KernelUnavailable`, which says why no kernel started.
 */
export async function startKernelAt(url: string, given: StartKernelOptions): Promise<KernelClient> {
  const known = knownOptions(given, { ...workerOptions, policy: true, tools: true, log: true }, "startKernel");
  const { policy, tools, log = "browser", ...options } = known;
  const address = trusted().createScriptURL(url);
  const worker = await startedWorker(() => new Worker(address, { type: "module", name: WORKER }));
  multiplexedEndpoint(worker, LANE).postMessage({ policy, tools, log } satisfies Asked);
  return keyholeWorker(worker, options);
}

/** In the worker of {@link startKernelAt} it makes and serves the kernel. Anywhere else it does nothing. */
export function serveOwnKernel(): void {
  if (typeof document !== "undefined" || (globalThis as { readonly name?: unknown }).name !== WORKER) return;
  const page = multiplexedEndpoint(ownPage(), LANE);
  const asked = new Promise<Asked>((resolve) => {
    page.addEventListener("message", (event) => resolve((event as MessageEvent<Asked>).data), { once: true });
  });
  exposeKernel(asked.then(makeKernel));
}

async function makeKernel({ policy, tools, log }: Asked): Promise<Kernel> {
  const host = await browserHost({ container: remoteFrameContainer() });
  const resources = pageResources();
  const modeTriggers = defaultModeTriggers(resources);
  const sink = log === "browser" ? { sink: indexedDbSink() } : {};
  const kernel = await createKernel({ host, policy, resources, modeTriggers, ...sink });
  for (const tool of tools) {
    const registered = kernel.register(tool);
    if (!registered.ok) throw new Error(`${registered.error.message} ${registered.error.hint}`.trimEnd());
  }
  return kernel;
}
