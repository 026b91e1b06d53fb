import type { Writable } from "node:stream";

/** Of lines that wait for their reader. The largest message fits several times. */
export const MOST_WAITING_BYTES = 67_108_864;
/** The cost of a line beside its bytes. */
const LINE_COST_BYTES = 512;

interface WaitingLine {
  readonly bytes: Buffer;
  readonly sent: PromiseWithResolvers<void>;
}

/**
 * Writes lines to a pipe as fast as its reader takes them. The pipe holds the line that is being written; the others wait here, where they can be taken back. A reader that
 * takes nothing makes them wait for ever: so they are bounded.
 */
export class LineWriter {
  readonly #pipe: Writable;
  /** In their order. */
  readonly #waiting = new Map<string | number | symbol, WaitingLine>();
  #waitingBytes = 0;
  #hasEnded = false;

  constructor(pipe: Writable) {
    this.#pipe = pipe;
    pipe.on("drain", () => this.#write());
    pipe.on("error", () => {}); // It ends with its reader.
  }

  /** Whether the reader is so far behind that another line of this length has to be refused. */
  isFull(bytes: number): boolean {
    const waiting = this.#waitingBytes + this.#pipe.writableLength;
    return waiting > 0 && waiting + bytes + LINE_COST_BYTES > MOST_WAITING_BYTES;
  }

  /**
   * Resolves when the line is written. Rejects when it is taken back, or the writer ends first.
   *
   * @param id by which the line can be taken back
   */
  write(bytes: Buffer, id: string | number | symbol = Symbol()): Promise<void> {
    if (this.#hasEnded) return Promise.reject(over());
    const sent = Promise.withResolvers<void>();
    this.#waiting.set(id, { bytes, sent });
    this.#waitingBytes += bytes.length + LINE_COST_BYTES;
    this.#write();
    return sent.promise;
  }

  /** `false` for a line of which the pipe has a part: its reader gets the rest too. */
  takeBack(id: string | number): boolean {
    const line = this.#taken(id);
    line?.sent.reject(new Error("The message was taken back before it was sent."));
    return line !== undefined;
  }

  /** Gives up what waits. */
  end(): void {
    this.#hasEnded = true;
    for (const id of this.#waiting.keys()) this.#taken(id)?.sent.reject(over());
  }

  #write(): void {
    for (const id of this.#waiting.keys()) {
      if (this.#pipe.writableNeedDrain) return;
      const line = this.#taken(id);
      if (line) this.#pipe.write(line.bytes, (error) => (error ? line.sent.reject(error) : line.sent.resolve()));
    }
  }

  #taken(id: string | number | symbol): WaitingLine | undefined {
    const line = this.#waiting.get(id);
    if (!line) return undefined;
    this.#waiting.delete(id);
    this.#waitingBytes -= line.bytes.length + LINE_COST_BYTES;
    return line;
  }
}

const over = (): Error => new Error("The other end is gone.");
