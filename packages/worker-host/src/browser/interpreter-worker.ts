/**
 * The script of an isolate's worker that holds the interpreter. The first message brings the port
 * to the host, the first over that port the engine. Tool code never runs here as JavaScript of the
 * browser, so the realm needs no hardening. The frame around it still has no origin and no network.
 */
import type { HostMessage } from "../protocol/message.ts";
import shell from "keyhole:../wasm/guest/shell.ts?iife";
import { builtEngine } from "../wasm/interpreter/engine.ts";
import { bootImage, openVmPort } from "../wasm/interpreter/port.ts";
import type { InterpreterBoot } from "./interpreter.ts";

addEventListener(
  "message",
  ({ ports: [port] }: MessageEvent) => {
    (globalThis as unknown as Worker).postMessage("started");
    if (port === undefined) return;
    port.onmessage = ({ data }: MessageEvent<InterpreterBoot>) => void boot(port, data);
  },
  { once: true },
);

async function boot(port: MessagePort, { quickJs }: InterpreterBoot): Promise<void> {
  // Messages that come during the compilation of the engine.
  const early: HostMessage[] = [];
  port.onmessage = ({ data }: MessageEvent<HostMessage>) => early.push(data);
  let module: WebAssembly.Module;
  try {
    module = await WebAssembly.compile(quickJs);
  } catch {
    return port.postMessage({ type: "ready", imports: false, wasm: false }); // The policy forbids it.
  }
  let vm: ReturnType<typeof openVmPort>;
  try {
    const engine = builtEngine(module);
    vm = openVmPort(engine, bootImage(engine, shell));
  } catch (error) {
    return port.postMessage({ type: "died", reason: `the interpreter does not start: ${String(error)}` });
  }
  vm.onmessage = ({ data }: MessageEvent) => port.postMessage(data);
  port.onmessage = ({ data }: MessageEvent<HostMessage>) => vm.postMessage(data);
  for (const message of early) vm.postMessage(message);
}
