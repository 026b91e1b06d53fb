/**
 * The script of a thread that holds one interpreter: the kernel's thread stays free, and a tool that never yields is stopped with its thread. Code of
 * a tool never runs here as JavaScript of Node.
 */
import type { HostMessage } from "../protocol/message.ts";
import type { Engine } from "../wasm/interpreter/engine.ts";
import { openVmPort, type VmBounds } from "../wasm/interpreter/port.ts";
import type { Image } from "../protocol/suspended-call.ts";

export interface InterpreterData {
  readonly engine: Engine;
  readonly image: Image;
  readonly bounds: VmBounds;
}

// Without an import: the script is bundled, like every other shell, into text that names no platform.
const threads = process.getBuiltinModule("node:worker_threads");
const { parentPort } = threads;

if (parentPort) {
  const { engine, image, bounds } = threads.workerData as InterpreterData;
  const port = openVmPort(engine, image, bounds);
  port.onmessage = ({ data }: MessageEvent) => parentPort.postMessage(data);
  parentPort.on("message", (message: HostMessage) => port.postMessage(message));
}
