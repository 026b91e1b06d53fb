/** `keyhole/browser`: kernel and browser host for pages without a bundler. The kernel's worker loads the same module. Copy its whole folder: the module loads parts beside it when it needs them. */
import {
  type KernelClient,
  serveOwnKernel,
  startKernelAt,
  type StartKernelOptions,
} from "@keyhole/worker-host/browser";

export * from "@keyhole/kernel";
export * from "@keyhole/worker-host/browser";
export { indexedDbSink } from "@keyhole/worker-host/sinks/indexeddb";

serveOwnKernel();

/**
 * Starts a kernel in a worker of its own, with each tool in an isolate. The worker loads this module again.
 *
 * Rejects with `KernelUnavailable`, which says why no kernel started.
 *
 * @example
 * import { startKernel } from "./keyhole/keyhole.js";
 * const kernel = await startKernel({ policy, tools: [wordCount], approver });
 */
export function startKernel(options: StartKernelOptions): Promise<KernelClient> {
  return startKernelAt(import.meta.url, options);
}
