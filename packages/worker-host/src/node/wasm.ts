import type { Isolate } from "@keyhole/kernel";
import type { LoadedModule } from "../protocol/message.ts";
import { openThread } from "./thread-isolate.ts";
import script from "keyhole:./wasm-thread.ts?esm";

const url = new URL(`data:text/javascript,${encodeURIComponent(script)}`);

/** Compiled once for all threads that run it. */
const compiled = new WeakMap<Uint8Array, Promise<WebAssembly.Module>>();

/** A metered module in a thread of its own. @throws IsolateFailure */
export async function openModuleThread(
  { module, ...start }: LoadedModule,
  name: string,
  open: Set<Isolate["terminate"]>,
  isWanted?: () => boolean,
  startTimeoutMs?: number,
): Promise<Isolate> {
  const script = { url, metered: true, startTimeoutMs };
  return openThread(name, { ...start, module: await compiledOf(module) }, script, open, isWanted);
}

function compiledOf(module: LoadedModule["module"]): WebAssembly.Module | Promise<WebAssembly.Module> {
  if (module instanceof WebAssembly.Module) return module;
  const known = compiled.get(module) ?? WebAssembly.compile(module);
  compiled.set(module, known);
  return known;
}
