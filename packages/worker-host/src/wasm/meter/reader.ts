import { malformed } from "./refusal.ts";

/** A byte order mark is a part of the name, as it is for the engine. */
const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Reads a part of a binary module. Every read checks the end of that part. */
export class Reader {
  readonly bytes: Uint8Array;
  readonly end: number;
  at: number;

  constructor(bytes: Uint8Array, at = 0, end: number = bytes.length) {
    this.bytes = bytes;
    this.at = at;
    this.end = end;
  }

  get done(): boolean {
    return this.at >= this.end;
  }

  byte(): number {
    if (this.at >= this.end) throw malformed("it ends too early");
    return this.bytes[this.at++]!;
  }

  peek(): number {
    if (this.at >= this.end) throw malformed("it ends too early");
    return this.bytes[this.at]!;
  }

  /** Unsigned LEB128 of at most 32 bits. */
  u32(): number {
    let byte = this.byte();
    if (byte < 0x80) return byte;
    let value = byte & 0x7f;
    for (let shift = 7; shift < 35; shift += 7) {
      byte = this.byte();
      // Not `<<`: the fifth group reaches past bit 31.
      value += (byte & 0x7f) * 2 ** shift;
      if (byte < 0x80) {
        if (value > 0xffff_ffff) throw malformed("a number is too large");
        return value;
      }
    }
    throw malformed("a number is too long");
  }

  /** Signed LEB128 of at most 33 bits: block types and heap types. */
  s33(): number {
    let value = 0;
    for (let shift = 0; shift < 35; shift += 7) {
      const byte = this.byte();
      value += (byte & 0x7f) * 2 ** shift;
      if (byte < 0x80) return byte & 0x40 ? value - 2 ** (shift + 7) : value;
    }
    throw malformed("a number is too long");
  }

  /** A LEB128 of at most `maxBytes` bytes whose value is not needed. */
  skipLeb(maxBytes: number): void {
    for (let i = 0; i < maxBytes; i++) if (this.byte() < 0x80) return;
    throw malformed("a number is too long");
  }

  skip(count: number): void {
    if (count > this.end - this.at) throw malformed("it ends too early");
    this.at += count;
  }

  /** A part of a stated size. The reader itself moves behind it. */
  part(size: number): Reader {
    const at = this.at;
    this.skip(size);
    return new Reader(this.bytes, at, this.at);
  }

  name(): string {
    const { at, end } = this.part(this.u32());
    try {
      return decoder.decode(this.bytes.subarray(at, end));
    } catch {
      throw malformed("a name is not UTF-8");
    }
  }
}
