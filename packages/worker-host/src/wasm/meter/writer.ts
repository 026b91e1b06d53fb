const encoder = new TextEncoder();
/** Below, a loop is faster than a call. */
const SHORT_COPY = 24;

/** Bytes that grow. */
export class Writer {
  #bytes: Uint8Array<ArrayBuffer>;
  at = 0;

  constructor(capacity = 256) {
    this.#bytes = new Uint8Array(capacity);
  }

  /** The bytes so far: a view, valid until the next write. */
  get written(): Uint8Array<ArrayBuffer> {
    return this.#bytes.subarray(0, this.at);
  }

  clear(): void {
    this.at = 0;
  }

  byte(value: number): void {
    if (this.at === this.#bytes.length) this.#reserve(1);
    this.#bytes[this.at++] = value;
  }

  bytes(values: ArrayLike<number>): void {
    this.#reserve(values.length);
    this.#bytes.set(values, this.at);
    this.at += values.length;
  }

  /** Copies `source[from, to)`. */
  copy(source: Uint8Array, from: number, to: number): void {
    const count = to - from;
    this.#reserve(count);
    if (count > SHORT_COPY) this.#bytes.set(source.subarray(from, to), this.at);
    else for (let i = 0; i < count; i++) this.#bytes[this.at + i] = source[from + i]!;
    this.at += count;
  }

  u32(value: number): void {
    let rest = value;
    while (rest > 0x7f) {
      this.byte((rest % 128) | 0x80);
      rest = Math.floor(rest / 128);
    }
    this.byte(rest);
  }

  /** Signed LEB128 of a safe integer, as `i32.const` and `i64.const` take it. */
  signed(value: number): void {
    let rest = value;
    for (;;) {
      const low = ((rest % 128) + 128) % 128;
      rest = (rest - low) / 128;
      if ((rest === 0 && low < 0x40) || (rest === -1 && low >= 0x40)) return this.byte(low);
      this.byte(low | 0x80);
    }
  }

  name(text: string): void {
    const bytes = encoder.encode(text);
    this.u32(bytes.length);
    this.bytes(bytes);
  }

  /** Bytes with their count in front: a section's or a function's body. */
  sized(body: Uint8Array): void {
    this.u32(body.length);
    this.bytes(body);
  }

  #reserve(count: number): void {
    const needed = this.at + count;
    if (needed <= this.#bytes.length) return;
    const larger = new Uint8Array(Math.max(needed, this.#bytes.length * 2));
    larger.set(this.#bytes);
    this.#bytes = larger;
  }
}
