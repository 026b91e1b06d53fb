import { IsolateFailure } from "@keyhole/kernel";
import quickJsUrl from "keyhole:quickjs-wasi/quickjs.wasm?metered-url";
import type { GuestChannel } from "../protocol/channel.ts";
import shell from "keyhole:../wasm/guest/shell.ts?iife";
import { builtEngine } from "../wasm/interpreter/engine.ts";
import { ResumableCalls } from "../wasm/interpreter/resumable.ts";
import { snapshotKindOf } from "../wasm/interpreter/snapshot.ts";

/** The host's first message to a worker that holds the interpreter. */
export interface InterpreterBoot {
  /** QuickJS, metered by the build. Bytes: a compiled module does not cross into a frame without an origin. */
  readonly quickJs: ArrayBuffer;
}

let bytes: Promise<ArrayBuffer> | undefined;

/**
 * The engine, fetched once per page.
 *
 * @throws {IsolateFailure} `UNSUPPORTED_HOST` when it cannot be fetched
 */
export async function interpreterBoot(): Promise<InterpreterBoot> {
  bytes ??= fetchEngine();
  try {
    return { quickJs: await bytes };
  } catch (error) {
    bytes = undefined;
    const reason = error instanceof Error ? error.message : String(error);
    throw new IsolateFailure("UNSUPPORTED_HOST", `The interpreter cannot be fetched from ${quickJsUrl}: ${reason}.`, {
      operatorHint: "Serve the file, and let the page's Content-Security-Policy connect to it (connect-src 'self').",
    });
  }
}

/** The kind of these workers' snapshots. */
export async function interpreterKind({ quickJs }: InterpreterBoot): Promise<string> {
  return snapshotKindOf(builtEngine(await WebAssembly.compile(quickJs)), shell);
}

/** The calls of such a worker. */
export function resumableCalls(channel: GuestChannel, snapshot?: Uint8Array<ArrayBuffer>): ResumableCalls {
  return new ResumableCalls(channel, snapshot);
}

async function fetchEngine(): Promise<ArrayBuffer> {
  const response = await fetch(quickJsUrl);
  if (!response.ok) throw new Error(`the answer was ${response.status}`);
  return response.arrayBuffer();
}
