import { joinBytes } from "../bytes/join-bytes.ts";

/** UTF-8 bytes of one line of a log: more than a decision has that all rules of the largest policy made, far less than memory. */
export const LINE_BYTES = 8_388_608;

/** A piece of a log that is no line: which one, and why. Thrown by {@link lines}. */
export class LineFault extends Error {
  /** From 1. */
  readonly line: number;
  /** The line is beyond the bound of this reader, which so cannot tell whether it is whole. */
  readonly isTooLong: boolean;

  constructor(line: number, message: string, isTooLong: boolean = false) {
    super(message);
    this.name = "LineFault";
    this.line = line;
    this.isTooLong = isTooLong;
  }
}

const NEWLINE = 10;

/**
 * The lines of a file that comes in pieces (a `ReadableStream`, a file handle's stream), in memory for one piece and one line. The last one may lack its
 * line end. Iterating throws {@link LineFault} for a line that is too long or is not UTF-8.
 */
export class Lines implements AsyncIterable<string> {
  readonly #chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>;
  readonly #maxBytes: number;

  constructor(chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>, maxBytes: number) {
    this.#chunks = chunks;
    this.#maxBytes = maxBytes;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<string, void, undefined> {
    for await (const batch of this.batches()) yield* batch;
  }

  /** All lines that end in one piece at once: a turn of the event loop for each line takes as long as its digest. */
  async *batches(): AsyncGenerator<readonly string[], void, undefined> {
    const cutter = new Cutter(this.#maxBytes);
    for await (const chunk of this.#chunks) {
      const batch: string[] = [];
      const fault = cutter.cut(chunk, batch);
      if (batch.length > 0) yield batch;
      if (fault) throw fault;
    }
    const last: string[] = [];
    const fault = cutter.end(last);
    if (last.length > 0) yield last;
    if (fault) throw fault;
  }
}

/**
 * The lines of a file; see {@link Lines}.
 *
 * @param maxBytes of one line. The reader refuses a longer one before it is in memory.
 */
export function lines(chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>, maxBytes: number = LINE_BYTES): Lines {
  return new Lines(chunks, maxBytes);
}

/** Cuts chunks into lines. A chunk belongs to its reader, which may reuse the buffer. */
class Cutter {
  readonly #maxBytes: number;
  readonly #decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  /** Of a line that has not ended yet. */
  #parts: Uint8Array[] = [];
  #partsBytes = 0;
  #line = 1;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  cut(chunk: Uint8Array, into: string[]): LineFault | undefined {
    const last = chunk.lastIndexOf(NEWLINE);
    let mayTakeAll = last <= this.#maxBytes;
    let from = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, from)) {
      const fault = this.#take(chunk.subarray(from, end), into);
      if (fault) return fault;
      from = end + 1;
      if (!mayTakeAll || last <= end) continue;
      mayTakeAll = false;
      if (this.#takeAll(chunk.subarray(from, last), into)) from = last + 1;
    }
    return from < chunk.length ? this.#keep(chunk.slice(from)) : undefined;
  }

  end(into: string[]): LineFault | undefined {
    return this.#partsBytes > 0 ? this.#take(new Uint8Array(), into) : undefined;
  }

  #keep(part: Uint8Array): LineFault | undefined {
    this.#partsBytes += part.length;
    this.#parts.push(part);
    return this.#partsBytes > this.#maxBytes
      ? new LineFault(this.#line, `it is longer than ${this.#maxBytes} bytes`, true)
      : undefined;
  }

  #take(rest: Uint8Array, into: string[]): LineFault | undefined {
    const fault = this.#keep(rest);
    if (fault) return fault;
    const bytes = this.#parts.length === 1 ? rest : joinBytes(this.#parts);
    this.#parts = [];
    this.#partsBytes = 0;
    try {
      into.push(this.#decoder.decode(bytes));
    } catch {
      return new LineFault(this.#line, "it is not UTF-8");
    }
    this.#line++;
    return undefined;
  }

  /** Whole lines, decoded together. `false` if they are not UTF-8: which one is not shows when each is taken alone. */
  #takeAll(bytes: Uint8Array, into: string[]): boolean {
    try {
      const all = this.#decoder.decode(bytes).split("\n");
      for (const line of all) into.push(line);
      this.#line += all.length;
      return true;
    } catch {
      return false;
    }
  }
}
