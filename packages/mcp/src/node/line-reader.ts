const LINE_FEED = 10;

/** Takes the lines out of chunks of bytes. A line of too many bytes fails, and ends the reading. */
export class LineReader {
  readonly #mostBytes: number;
  readonly #onLine: (line: string) => void;
  readonly #onTooLong: () => void;
  #parts: Buffer[] = [];
  #byteLength = 0;
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
      this.#byteLength += part.length;
      if (this.#byteLength > this.#mostBytes) {
        this.#isOver = true;
        this.#parts = [];
        return this.#onTooLong();
      }
      if (part.length > 0) this.#parts.push(part);
      if (to < 0) return;
      const line = (this.#parts.length === 1 ? this.#parts[0]! : Buffer.concat(this.#parts)).toString("utf8");
      this.#parts = [];
      this.#byteLength = 0;
      from = to + 1;
      this.#onLine(line);
    }
  }
}
