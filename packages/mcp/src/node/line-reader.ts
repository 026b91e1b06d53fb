import { GatheredBytes } from "@keyhole/kernel/foreign";

const LINE_FEED = 10;

/** Takes the lines out of chunks of bytes. A line of too many bytes fails, and ends the reading. */
export class LineReader {
  readonly #mostBytes: number;
  readonly #onLine: (line: string) => void;
  readonly #onTooLong: () => void;
  readonly #rest = new GatheredBytes();
  #isOver = false;

  constructor(mostBytes: number, onLine: (line: string) => void, onTooLong: () => void) {
    this.#mostBytes = mostBytes;
    this.#onLine = onLine;
    this.#onTooLong = onTooLong;
  }

  take(chunk: Buffer): void {
    let from = 0;
    while (!this.#isOver) {
      const to = chunk.indexOf(LINE_FEED, from);
      const part = chunk.subarray(from, to < 0 ? chunk.length : to);
      if (this.#rest.length + part.length > this.#mostBytes) {
        this.#isOver = true;
        this.#rest.take();
        return this.#onTooLong();
      }
      if (to < 0) return this.#rest.add(part);
      from = to + 1;
      this.#onLine(this.#whole(part));
    }
  }

  /** Most lines come whole: these are not copied. */
  #whole(last: Buffer): string {
    if (this.#rest.length === 0) return last.toString("utf8");
    this.#rest.add(last);
    const { buffer, length } = this.#rest.take();
    return Buffer.from(buffer, 0, length).toString("utf8");
  }
}
