/**
 * Text that grows from many short pieces. Engines join strings lazily, and laying out a text of thousands of pieces takes longer than
 * writing ASCII into bytes.
 */
export class AsciiWriter {
  #bytes = new Uint8Array(4_096);
  #length = 0;
  #before = "";

  /** A text as a JSON string. */
  string(text: string): void {
    if (text.length > SHORT) return this.any(JSON.stringify(text));
    this.#reserve(text.length + 2);
    const bytes = this.#bytes;
    let at = this.#length;
    bytes[at++] = 34;
    for (let i = 0; i < text.length; i++) {
      const unit = text.charCodeAt(i);
      if (unit < 32 || unit > 126 || unit === 34 || unit === 92) return this.any(JSON.stringify(text));
      bytes[at++] = unit;
    }
    bytes[at++] = 34;
    this.#length = at;
  }

  /** An integer of few digits, which are most numbers. */
  small(value: number): void {
    this.#reserve(5);
    let scale = 1;
    while (scale * 10 <= value) scale *= 10;
    for (let left = value; scale >= 1; left %= scale, scale /= 10)
      this.#bytes[this.#length++] = 48 + Math.floor(left / scale);
  }

  /** One ASCII character. */
  sign(unit: number): void {
    this.#reserve(1);
    this.#bytes[this.#length++] = unit;
  }

  /** A text as it is. */
  any(text: string): void {
    if (text.length > SHORT || !this.#append(text)) {
      this.#before = this.toString() + text;
      this.#length = 0;
    }
  }

  #append(text: string): boolean {
    this.#reserve(text.length);
    for (let i = 0; i < text.length; i++) {
      const unit = text.charCodeAt(i);
      if (unit > 126) return false;
      this.#bytes[this.#length + i] = unit;
    }
    this.#length += text.length;
    return true;
  }

  toString(): string {
    return this.#before + decoder.decode(this.#bytes.subarray(0, this.#length));
  }

  #reserve(count: number): void {
    if (this.#length + count <= this.#bytes.length) return;
    const bytes = new Uint8Array((this.#length + count) * 2);
    bytes.set(this.#bytes);
    this.#bytes = bytes;
  }
}

const decoder = /* @__PURE__ */ new TextDecoder();
const SHORT = 256;
