/** The most bytes of a stream that one result gives to a client. */
const MOST_BYTES = 4_194_304;

/** Holds the pieces of a stream up to a bound. A piece beyond it fails the stream, and with it the call. */
export class StreamHold {
  readonly #pieces: Uint8Array[] = [];
  #byteLength = 0;
  readonly output: WritableStream<Uint8Array> = new WritableStream({ write: (piece) => this.#take(piece) });

  get byteLength(): number {
    return this.#byteLength;
  }

  get bytes(): Uint8Array {
    const whole = new Uint8Array(this.#byteLength);
    let at = 0;
    for (const piece of this.#pieces) {
      whole.set(piece, at);
      at += piece.length;
    }
    return whole;
  }

  #take(piece: Uint8Array): void {
    this.#byteLength += piece.length;
    if (this.#byteLength > MOST_BYTES)
      throw new RangeError(`A result of MCP holds at most ${MOST_BYTES} bytes of a stream.`);
    this.#pieces.push(piece);
  }
}
