/** Bytes that come in pieces, as one piece of memory: a foreign sender chooses how small its pieces are, and an object for each costs a hundred times its byte. */
export class GatheredBytes {
  #memory = new Uint8Array(0);
  #length = 0;

  get length(): number {
    return this.#length;
  }

  add(piece: Uint8Array): void {
    const needed = this.#length + piece.length;
    if (needed > this.#memory.length) {
      const grown = new Uint8Array(Math.max(needed, this.#memory.length * 2));
      grown.set(this.#memory.subarray(0, this.#length));
      this.#memory = grown;
    }
    this.#memory.set(piece, this.#length);
    this.#length = needed;
  }

  /** All of them, in a buffer of their own, and none afterwards. */
  take(): Uint8Array<ArrayBuffer> {
    const isFull = this.#length === this.#memory.length;
    const taken = isFull ? this.#memory : this.#memory.slice(0, this.#length);
    this.#memory = new Uint8Array(0);
    this.#length = 0;
    return taken;
  }
}
