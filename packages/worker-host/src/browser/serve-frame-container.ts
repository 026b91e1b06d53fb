import * as Comlink from "comlink";
import { domFrameContainer } from "./dom-frame-container.ts";
import { multiplexedEndpoint } from "./multiplexed-endpoint.ts";
import { type FrameContainer, CONTAINER_ENDPOINT } from "./frame-container.ts";

/**
 * Lends this page's document to a kernel in a worker. Call it right after the worker was created.
 *
 * Trusted pairs only: `worker` is the page's own kernel worker, never anything that a tool's code can reach.
 *
 * @example
 * const worker = new Worker(new URL("./kernel.worker.ts", import.meta.url), { type: "module" });
 * serveFrameContainer(worker);
 * const kernel = connectKernel(worker);
 */
export function serveFrameContainer(worker: Comlink.Endpoint, container: FrameContainer = domFrameContainer()): void {
  const served: FrameContainer = {
    open: (id, port, shell) => container.open(id, port, shell),
    close: (id) => container.close(id),
    watch: (onLost) => container.watch(onLost),
  };
  Comlink.expose(served, multiplexedEndpoint(worker, CONTAINER_ENDPOINT));
}
