const decoder = /* @__PURE__ */ new TextDecoder();

/**
 * Text that grows from many short pieces. Engines join strings lazily, and laying out a text of thousands of pieces takes longer than
 * writing ASCII into bytes.
 */
export class AsciiWriter {
  #bytes = new Uint8Array(4_096);
  #length = 0;
  #before = "";

  /** A text as it is, or as a JSON string. */
  add(text: string, isString = false): void {
    let at = this.#length;
    if (at + text.length + 2 > this.#bytes.length) {
      const bytes = new Uint8Array((at + text.length) * 2 + 2);
      bytes.set(this.#bytes);
      this.#bytes = bytes;
    }
    const bytes = this.#bytes;
    if (isString) bytes[at++] = 34;
    for (let i = 0; i < text.length; i++) {
      const unit = text.charCodeAt(i);
      if (unit > 126 || (isString && (unit < 32 || unit === 34 || unit === 92))) {
        this.#before = this.end() + (isString ? JSON.stringify(text) : text);
        this.#length = 0;
        return;
      }
      bytes[at++] = unit;
    }
    if (isString) bytes[at++] = 34;
    this.#length = at;
  }

  end(): string {
    return this.#before + decoder.decode(this.#bytes.subarray(0, this.#length));
  }
}
