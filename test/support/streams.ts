import type { Tool } from "@keyhole/kernel";
import { toolOf } from "./kernel.ts";

/** A caller's stream that notes what reaches it. */
export interface Sink {
  readonly output: WritableStream<Uint8Array>;
  readonly pieces: Uint8Array[];
  /** How the stream ended; empty while it has not. */
  readonly ends: string[];
}

/** @param take what is done with each piece; a promise makes the writer wait */
export function sink(take: () => void | Promise<void> = () => {}): Sink {
  const pieces: Uint8Array[] = [];
  const ends: string[] = [];
  const output = new WritableStream<Uint8Array>({
    write(piece) {
      pieces.push(piece);
      return take();
    },
    close: () => void ends.push("closed"),
    abort: (reason) => void ends.push(String(reason)),
  });
  return { output, pieces, ends };
}

export function joined(pieces: readonly Uint8Array[]): Uint8Array {
  const all = new Uint8Array(pieces.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const piece of pieces) {
    all.set(piece, at);
    at += piece.length;
  }
  return all;
}

/** A tool around one stream. */
export function streamOf(execute: (...args: never[]) => unknown, more: Record<string, unknown> = {}): Tool {
  return toolOf(execute, { output: { kind: "stream" }, ...more });
}

/** A caller's body that notes how it ends. */
export interface Source {
  readonly body: ReadableStream<Uint8Array>;
  /** Chunks that were taken. */
  readonly given: () => number;
  /** Why it was cancelled; empty while it was not. */
  readonly ends: string[];
}

/** @param then what comes behind the chunks: the end, unless it throws or waits */
export function bodySource(chunks: readonly Uint8Array[], then: () => void | Promise<void> = () => {}): Source {
  const ends: string[] = [];
  let given = 0;
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        if (given < chunks.length) return controller.enqueue(chunks[given++]!);
        await then();
        controller.close();
      },
      cancel: (reason) => void ends.push(String(reason)),
    },
    { highWaterMark: 0 },
  );
  return { body, given: () => given, ends };
}
