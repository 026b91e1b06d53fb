import { Shares } from "@keyhole/kernel/context";
import { drain } from "./drain-body.ts";

/** A body on its way to a call. The unread part stays in place, until `drain`. */
export interface Upload {
  readonly stream: ReadableStream<Uint8Array>;
  drain(): Promise<void>;
}

/**
 * The bytes of one body that the edge reads before the tool wants them: as many as a JSON call may hold. A browser reads no answer before it has
 * sent its whole request. Without this no approval request and no output would reach it.
 */
const AHEAD_BYTES = 8 << 20;
/** Of all bodies together. A caller leaves as many free as it has; beyond, its bodies come as their tools read them. */
const MOST_AHEAD_BYTES = 32 << 20;

/**
 * The bytes of all uploads that wait for their tools. The tool of a waiting call reads nothing, so without
 * this one caller could fill the memory.
 */
export class Uploads {
  readonly #ahead = new Shares();

  /** @param readsAhead whether the answer has to begin before the tool has read all */
  open(subject: string, request: Request, readsAhead: boolean): Upload {
    const body: ReadableStream<Uint8Array> | null = request.body;
    if (!body) return { stream: new ReadableStream({ start: (end) => end.close() }), drain: async () => {} };
    const reader = body.getReader();
    const waiting: Uint8Array[] = [];
    let heldBytes = 0;
    let isOver = false;
    const hold = (bytes: number): void => {
      heldBytes += bytes;
      this.#ahead.add(subject, bytes);
    };
    const drop = (): void => {
      isOver = true;
      waiting.length = 0;
      hold(-heldBytes);
    };
    let reading: Promise<void> | undefined;
    const readOne = (): Promise<void> =>
      (reading ??= reader
        .read()
        .then(({ value }) => {
          if (isOver) return;
          if (!value) return void (isOver = true);
          waiting.push(value);
          hold(value.byteLength);
        })
        .finally(() => (reading = undefined)));
    const hasRoom = (): boolean =>
      readsAhead && heldBytes < AHEAD_BYTES && !this.#ahead.isFull(subject, MOST_AHEAD_BYTES);
    const readAhead = async (): Promise<void> => {
      while (!isOver && hasRoom()) await readOne();
    };
    // The tool's next read has the same fault.
    const goAhead = (): void => void readAhead().catch(() => {});
    goAhead();
    const stream = new ReadableStream<Uint8Array>(
      {
        async pull(controller) {
          while (waiting.length === 0 && !isOver) await readOne();
          const next = waiting.shift();
          if (!next) return controller.close();
          hold(-next.byteLength);
          controller.enqueue(next);
          goAhead();
        },
      },
      { highWaterMark: 0 },
    );
    const drained = (): Promise<void> => {
      drop();
      return drain(reader);
    };
    return { stream, drain: drained };
  }
}
