import { present } from "../support/guards.ts";
/** Bytes as a reader would decode them, with the way back: the place in the original that each byte comes from. */
export interface EncodedForm {
  readonly bytes: Uint8Array;
  startOf(at: number): number;
  /** Behind the last byte of the original that it comes from. */
  endOf(at: number): number;
}

export function plainForm(bytes: Uint8Array): EncodedForm {
  return { bytes, startOf: (at) => at, endOf: (at) => at + 1 };
}

/** A view of a view. It is as good as its source but for some replaced parts, and never longer. */
export class Decoded implements EncodedForm {
  readonly #source: EncodedForm;
  #bytes: Uint8Array;
  #length = 0;
  /** Up to here the source is in the view. */
  #read = 0;
  /** Of each replaced part, in order: where it begins and ends in the view, and in the source. */
  readonly #parts: number[] = [];

  constructor(source: EncodedForm) {
    this.#source = source;
    this.#bytes = new Uint8Array(source.bytes.length);
  }

  /** The source from `from` to `to` stands for these bytes; what is before it and was not replaced stands for itself. */
  replace(from: number, to: number, bytes: readonly number[]): void {
    this.#copyTo(from);
    this.#parts.push(this.#length, this.#length + bytes.length, from, to);
    for (const byte of bytes) this.#bytes[this.#length++] = byte;
    this.#read = to;
  }

  #copyTo(end: number): void {
    this.#bytes.set(this.#source.bytes.subarray(this.#read, end), this.#length);
    this.#length += end - this.#read;
  }

  end(): EncodedForm {
    this.#copyTo(this.#source.bytes.length);
    this.#bytes = this.#bytes.subarray(0, this.#length);
    return this;
  }

  get bytes(): Uint8Array {
    return this.#bytes;
  }

  startOf(at: number): number {
    return this.#source.startOf(this.#sourceOf(at)[0]);
  }

  endOf(at: number): number {
    return this.#source.endOf(this.#sourceOf(at)[1] - 1);
  }

  /** The part of the source that a byte comes from. */
  #sourceOf(at: number): readonly [from: number, to: number] {
    const parts = this.#parts;
    // Of the parts that begin at a byte or before it the last: one without bytes can begin there as well.
    let [low, high] = [0, parts.length / 4];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (present(parts[4 * middle]) <= at) low = middle + 1;
      else high = middle;
    }
    if (low === 0) return [at, at + 1];
    const [, end = 0, from = 0, to = 0] = parts.slice(4 * low - 4, 4 * low);
    return at < end ? [from, to] : [to + at - end, to + at - end + 1];
  }
}
