import { once } from "node:events";
import { createInterface } from "node:readline/promises";
import { visible } from "@keyhole/kernel/visible";

export interface Terminal {
  readonly input: NodeJS.ReadableStream;
  readonly output: NodeJS.WritableStream;
  /** Aborted at Ctrl-C, which a terminal that is being read does not send as a signal. */
  readonly interrupted: AbortController;
}

/** Asks the person at a terminal. `undefined` where the input ended, also by Ctrl-D. */
export async function askAt(
  { input, output, interrupted }: Terminal,
  question: string,
  signal: AbortSignal,
): Promise<string | undefined> {
  const lines = createInterface({ input, output });
  lines.once("SIGINT", () => interrupted.abort(new Error("interrupted")));
  const stopped = AbortSignal.any([signal, interrupted.signal]);
  try {
    const ended = once(lines, "close").then(() => undefined);
    return await Promise.race([lines.question(visible(question), { signal: stopped }), ended]);
  } catch (error) {
    // Of Ctrl-D, too, readline tells as of an abort.
    if (stopped.aborted || !(error instanceof Error) || error.name !== "AbortError") throw error;
    return undefined;
  } finally {
    lines.close();
  }
}
