/**
 * The script of a thread that holds one metered module: the kernel's thread stays free, and a module that never yields is stopped with its thread. The module reaches
 * nothing but the imports that the relay gives it.
 */
import type { HostMessage } from "../protocol/message.ts";
import { openWasmPort, type WasmPortOptions } from "../wasm/tool/port.ts";

// Without an import: the script is bundled, like every other shell, into text that names no platform.
const threads = process.getBuiltinModule("node:worker_threads");
const { parentPort } = threads;

if (parentPort) {
  const port = openWasmPort(threads.workerData as WasmPortOptions);
  port.onmessage = ({ data }: MessageEvent) => parentPort.postMessage(data);
  parentPort.on("message", (message: HostMessage) => port.postMessage(message));
}
