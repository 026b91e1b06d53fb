import * as Comlink from "comlink";
import { domStage } from "./dom-stage.ts";
import { lane } from "./lane.ts";
import { type FrameStage, STAGE_LANE } from "./stage.ts";

/**
 * Lends this page's document to a kernel in a worker. Call it right after the worker was created.
 *
 * Trusted pairs only: `worker` is the page's own kernel worker, never anything that a tool's code can reach.
 *
 * @example
 * const worker = new Worker(new URL("./kernel.worker.ts", import.meta.url), { type: "module" });
 * serveStage(worker);
 * const kernel = connectKernel(worker);
 */
export function serveStage(worker: Comlink.Endpoint, stage: FrameStage = domStage()): void {
  const served: FrameStage = {
    open: (id, port, shell) => stage.open(id, port, shell),
    close: (id) => stage.close(id),
    watch: (onLost) => stage.watch(onLost),
  };
  Comlink.expose(served, lane(worker, STAGE_LANE));
}
