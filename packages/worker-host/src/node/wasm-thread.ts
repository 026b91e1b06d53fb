/**
 * The script of a thread that holds one metered module: the kernel's thread stays free, and a module that never yields is stopped with its thread. The module reaches
 * nothing but the imports that the relay gives it.
 */
import type { HostMessage } from "../protocol/message.ts";
import { openWasmPort } from "../wasm/tool/port.ts";

// Without an import: the script is bundled, like every other shell, into text that names no platform.
const { parentPort } = process.getBuiltinModule("node:worker_threads");

if (parentPort) {
  const port = openWasmPort();
  port.onmessage = ({ data }: MessageEvent) => parentPort.postMessage(data);
  parentPort.on("message", (message: HostMessage) => port.postMessage(message));
}
