import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { IsolateFailure } from "@keyhole/kernel";
import type { ThreadScript } from "./thread-isolate.ts";
import shell from "keyhole:../wasm/guest/shell.ts?iife";
import { compileEngine } from "../wasm/interpreter/compile-engine.ts";
import { bootImage } from "../wasm/interpreter/port.ts";
import { snapshotKindOf } from "../wasm/interpreter/snapshot.ts";
import type { InterpreterData } from "./interpreter-thread.ts";
import script from "keyhole:./interpreter-thread.ts?esm";

type Booted = Pick<InterpreterData, "engine" | "image">;

const scriptUrl = new URL(`data:text/javascript,${encodeURIComponent(script)}`);

/** By file. */
const booted = new Map<string, Promise<Booted>>();

/**
 * The host meters, compiles and boots QuickJS once per process; each thread gets the compiled module and a copy of the machine.
 *
 * @param quickJs its file. Default: that of the installed package
 * @param startTimeoutMs of each thread
 * @throws {IsolateFailure} where there is none
 */
export async function interpreterScript(quickJs?: string, startTimeoutMs?: number): Promise<ThreadScript> {
  const file = quickJs ?? installed();
  const pending = booted.get(file) ?? boot(file);
  booted.set(file, pending);
  try {
    const workerData: InterpreterData = { ...(await pending), bounds: {} };
    return { url: scriptUrl, workerData, metered: true, resumable: true, startTimeoutMs };
  } catch (error) {
    booted.delete(file); // What was missing may be there next time.
    throw error;
  }
}

/**
 * The kind of these threads' snapshots.
 *
 * @throws {IsolateFailure} as {@link interpreterScript}
 */
export async function interpreterKind(quickJs?: string): Promise<string> {
  await interpreterScript(quickJs);
  return snapshotKindOf((await booted.get(quickJs ?? installed())!).engine, shell);
}

async function boot(file: string): Promise<Booted> {
  const bytes = await readFile(file).catch(() => {
    throw missing(`There is no file ${file} that is readable`);
  });
  const engine = await compileEngine(new Uint8Array(bytes)).catch((error: unknown) => {
    throw missing(`${file}: ${error instanceof Error ? error.message : "it does not compile"}`);
  });
  return { engine, image: bootImage(engine, shell) };
}

function installed(): string {
  try {
    return fileURLToPath(import.meta.resolve("quickjs-wasi/quickjs.wasm"));
  } catch {
    throw missing("The package quickjs-wasi is missing where this program runs");
  }
}

/** A program that was bundled into one file has left it behind. */
function missing(what: string): IsolateFailure {
  return new IsolateFailure(
    "UNSUPPORTED_HOST",
    `${what.replace(/\.$/, "")}: the interpreter that runs tools is missing.`,
    {
      operatorHint:
        "Install quickjs-wasi beside the program, leave @keyhole/worker-host out of its bundle, or pass the path of a copy of quickjs.wasm as nodeHost({ quickJs }).",
    },
  );
}
