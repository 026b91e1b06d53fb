/** More than the largest message that either end takes. */
const LINE_BYTES = 64 << 20;
const LINE_FEED = 10;

/** Takes lines out of chunks of bytes. */
export class LineSplitter {
  readonly #onLine: (line: string) => void;
  readonly #onTooLong: () => void;
  #parts: Buffer[] = [];
  #byteLength = 0;

  constructor(onLine: (line: string) => void, onTooLong: () => void) {
    this.#onLine = onLine;
    this.#onTooLong = onTooLong;
  }

  take(chunk: Buffer): void {
    let from = 0;
    for (let to = chunk.indexOf(LINE_FEED); to >= 0; to = chunk.indexOf(LINE_FEED, from)) {
      const line = Buffer.concat([...this.#parts, chunk.subarray(from, to)]).toString("utf8");
      this.#parts = [];
      this.#byteLength = 0;
      from = to + 1;
      if (line.trim() !== "") this.#onLine(line);
    }
    this.#byteLength += chunk.length - from;
    if (this.#byteLength > LINE_BYTES) {
      this.#parts = [];
      this.#byteLength = 0;
      return this.#onTooLong();
    }
    if (from < chunk.length) this.#parts.push(chunk.subarray(from));
  }
}
