import { Shares } from "@keyhole/kernel/context";

/** A piece is at most so long: a reader that stops holds no more beyond those that it took. */
const PIECE_BYTES = 65_536;

/**
 * Counts the bytes of answers that wait, for each caller. The answers of the SDK queue without a
 * bound, so they are taken as they come. An answer that brings its caller above the bound ends
 * with an error; the others stay.
 */
export class UnreadAnswers {
  readonly #maxBytes: number;
  readonly #bytes = new Shares();

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  isFull(caller: string): boolean {
    return this.#bytes.of(caller) >= this.#maxBytes;
  }

  /** The same answer, counted. @param gone aborts when the client leaves: some servers then neither read nor cancel */
  count(caller: string, answer: Response, gone: AbortSignal): Response {
    const { body, status, statusText, headers } = answer;
    return body ? new Response(this.#counted(caller, body, gone), { status, statusText, headers }) : answer;
  }

  #counted(caller: string, body: ReadableStream<Uint8Array>, gone: AbortSignal): ReadableStream<Uint8Array> {
    const reader = body.getReader();
    const waiting: Uint8Array[] = [];
    let held = 0;
    let isOver = false;
    let wake = Promise.withResolvers<void>();
    const hold = (bytes: number): void => {
      held += bytes;
      this.#bytes.add(caller, bytes);
      wake.resolve();
    };
    const drop = (): void => {
      waiting.length = 0;
      hold(-held);
    };
    const fill = async (): Promise<void> => {
      for (let read = await reader.read(); !read.done && !isOver; read = await reader.read()) {
        waiting.push(read.value);
        hold(read.value.byteLength);
        if (this.#bytes.of(caller) > this.#maxBytes) throw new Error("The client does not read its answers.");
      }
    };
    const filled = fill().finally(() => {
      isOver = true;
      wake.resolve();
    });
    // Its reader gets the fault.
    filled.catch((error: unknown) => {
      drop();
      void reader.cancel(error).catch(() => undefined);
    });
    const pull = async (stream: ReadableStreamDefaultController<Uint8Array>): Promise<void> => {
      while (waiting.length === 0 && !isOver) {
        wake = Promise.withResolvers();
        await wake.promise;
      }
      const [next] = waiting;
      if (!next) return filled.then(() => stream.close());
      const piece = next.subarray(0, PIECE_BYTES);
      waiting.splice(0, 1, ...(piece.length < next.length ? [next.subarray(PIECE_BYTES)] : []));
      hold(-piece.byteLength);
      stream.enqueue(piece);
    };
    const cancel = async (reason: unknown): Promise<void> => {
      isOver = true;
      drop();
      await reader.cancel(reason);
    };
    const leave = (): void => void cancel(gone.reason).catch(() => undefined);
    gone.addEventListener("abort", leave, { once: true });
    if (gone.aborted) leave();
    return new ReadableStream({ pull, cancel }, { highWaterMark: 0 });
  }
}
