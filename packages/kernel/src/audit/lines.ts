/** UTF-8 bytes of one line of a log: far more than any event has, far less than memory. */
export const LINE_BYTES = 1_048_576;

/** A piece of a log that is no line: which one, and why. Thrown by {@link lines}. */
export class LineFault extends Error {
  /** From 1. */
  readonly line: number;

  constructor(line: number, message: string) {
    super(message);
    this.name = "LineFault";
    this.line = line;
  }
}

const NEWLINE = 10;

/**
 * The lines of a file that comes in pieces (a `ReadableStream`, a file handle's stream), in memory for one line. The last one may lack its line end.
 *
 * @param maxBytes of one line. A longer one is refused before it is in memory.
 * @throws LineFault for a line that is too long or is not UTF-8.
 */
export async function* lines(
  chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  maxBytes: number = LINE_BYTES,
): AsyncGenerator<string, void, undefined> {
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  let parts: Uint8Array[] = [];
  let partsBytes = 0;
  let line = 1;
  const take = (): string => {
    const bytes = new Uint8Array(partsBytes);
    let at = 0;
    for (const part of parts) {
      bytes.set(part, at);
      at += part.length;
    }
    parts = [];
    partsBytes = 0;
    try {
      return decoder.decode(bytes);
    } catch {
      throw new LineFault(line, "it is not UTF-8");
    }
  };
  const add = (part: Uint8Array): void => {
    partsBytes += part.length;
    if (partsBytes > maxBytes) throw new LineFault(line, `it is longer than ${maxBytes} bytes`);
    parts.push(part);
  };
  for await (const chunk of chunks) {
    let from = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, from)) {
      add(chunk.subarray(from, end));
      yield take();
      line++;
      from = end + 1;
    }
    if (from < chunk.length) add(chunk.slice(from)); // A copy: the reader may use its buffer again.
  }
  if (partsBytes > 0) yield take();
}
