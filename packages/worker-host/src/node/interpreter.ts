import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import type { ThreadScript } from "./thread-isolate.ts";
import shell from "../wasm/guest/shell.ts?iife";
import { compileEngine } from "../wasm/interpreter/engine.ts";
import { bootImage } from "../wasm/interpreter/port.ts";
import type { InterpreterData } from "./interpreter-thread.ts";
import script from "./interpreter-thread.ts?esm";

const scriptUrl = new URL(`data:text/javascript,${encodeURIComponent(script)}`);

let booted: Promise<Pick<InterpreterData, "engine" | "image">> | undefined;

/** QuickJS is metered, compiled and booted once per process; each thread gets the compiled module and a copy of the machine. */
export async function interpreterScript(): Promise<ThreadScript> {
  booted ??= boot();
  return { url: scriptUrl, workerData: { ...(await booted), bounds: {} } satisfies InterpreterData, metered: true };
}

async function boot(): Promise<Pick<InterpreterData, "engine" | "image">> {
  const file = fileURLToPath(import.meta.resolve("quickjs-wasi/quickjs.wasm"));
  const engine = await compileEngine(new Uint8Array(await readFile(file)));
  return { engine, image: bootImage(engine, shell) };
}
