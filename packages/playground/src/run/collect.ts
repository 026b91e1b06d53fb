/** Collects a tool's stream as a file of the browser, which keeps large files on disk. */
export interface Collector {
  readonly output: WritableStream<Uint8Array>;
  readonly file: () => Blob;
  /** So far. */
  readonly byteLength: () => number;
}

/** In memory at most, before it becomes a part of the file. */
const partBytes = 8 << 20;
/** Of memory that a piece takes beside its bytes, about: a tool, or an edge, can send a great many with one byte, or none. */
const pieceBytes = 256;

export function collect(): Collector {
  let file = new Blob();
  let parts: Uint8Array<ArrayBuffer>[] = [];
  let heldBytes = 0;
  let byteLength = 0;
  const join = (): Blob => {
    file = new Blob([file, ...parts]);
    parts = [];
    heldBytes = 0;
    return file;
  };
  const output = new WritableStream<Uint8Array>({
    write(piece) {
      parts.push(new Uint8Array(piece));
      byteLength += piece.length;
      if ((heldBytes += pieceBytes + piece.length) >= partBytes) join();
    },
  });
  return { output, file: join, byteLength: () => byteLength };
}
