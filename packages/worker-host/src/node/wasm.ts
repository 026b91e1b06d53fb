import type { Isolate, RegisteredTool } from "@keyhole/kernel";
import { loadedModule, meteredCode } from "../wasm/tool/host.ts";
import { openThread } from "./thread-isolate.ts";
import script from "./wasm-thread.ts?esm";

const url = new URL(`data:text/javascript,${encodeURIComponent(script)}`);

/** Compiled once for all threads that run it. */
const compiled = new WeakMap<Uint8Array, Promise<WebAssembly.Module>>();

/** A module in a thread of its own. @throws IsolateFailure */
export async function openWasmThread(tool: RegisteredTool, open: Set<Isolate["terminate"]>): Promise<Isolate> {
  const bytes = meteredCode(tool);
  const module = compiled.get(bytes) ?? WebAssembly.compile(bytes);
  compiled.set(bytes, module);
  return openThread(tool, loadedModule(tool, await module), { url, metered: true }, open);
}
