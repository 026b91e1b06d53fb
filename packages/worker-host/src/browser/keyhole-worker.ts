import { knownOptions, type OptionNames } from "@keyhole/kernel/foreign";
import { connectKernel, connectOptions, type ConnectOptions } from "./connect-kernel.ts";
import { domFrameContainer } from "./dom-frame-container.ts";
import type { KernelClient } from "./kernel-client.ts";
import { serveFrameContainer } from "./serve-frame-container.ts";

export interface KeyholeWorkerOptions extends ConnectOptions {
  /** The nonce of the page's Content-Security-Policy, where it has one. Default: none, and the policy allows the frame's script by its digest. */
  readonly nonce?: string;
}

export const workerOptions: OptionNames<KeyholeWorkerOptions> = { ...connectOptions, nonce: true };

/**
 * Connects the page to the kernel in its worker, and lends that kernel the page's document for its isolates. Call it in the task that created the worker. Resolves when the kernel is
 * ready.
 *
 * Rejects with `KernelUnavailable`, which says why no kernel started, and terminates the worker.
 *
 * @example
 * const worker = new Worker(new URL("./kernel.worker.ts", import.meta.url), { type: "module" });
 * const kernel = await keyholeWorker(worker, { approver });
 */
export async function keyholeWorker(worker: Worker, given: KeyholeWorkerOptions = {}): Promise<KernelClient> {
  const { nonce, ...options } = knownOptions(given, workerOptions, "keyholeWorker");
  serveFrameContainer(worker, domFrameContainer(nonce === undefined ? {} : { nonce }));
  const kernel = connectKernel(worker, options);
  try {
    await kernel.ready();
    return kernel;
  } catch (error) {
    worker.terminate();
    throw error;
  }
}
