import { host } from "../host.ts";
import { install } from "./install.ts";

type Source = ArrayBuffer | ArrayBufferView<ArrayBuffer>;

function copy(source: Source): ArrayBuffer {
  if (source instanceof ArrayBuffer) return source;
  return source.buffer.slice(source.byteOffset, source.byteOffset + source.byteLength);
}

class GuestTextEncoder {
  get encoding(): string {
    return "utf-8";
  }

  encode(text: unknown = ""): Uint8Array<ArrayBuffer> {
    return host.encode(String(text).toWellFormed());
  }

  encodeInto(text: string, target: Uint8Array): { read: number; written: number } {
    let read = 0;
    let written = 0;
    for (const character of String(text)) {
      const bytes = host.encode(character.toWellFormed());
      if (written + bytes.length > target.length) break;
      target.set(bytes, written);
      written += bytes.length;
      read += character.length;
    }
    return { read, written };
  }
}

class GuestTextDecoder {
  readonly encoding: string;
  readonly fatal: boolean;
  readonly ignoreBOM: boolean;
  /** Bytes of a stream's character that is not complete. */
  #rest: Uint8Array<ArrayBuffer> = new Uint8Array();

  constructor(label: unknown = "utf-8", { fatal = false, ignoreBOM = false }: TextDecoderOptions = {}) {
    this.encoding = String(label)
      .trim()
      .toLowerCase()
      .replace(/^(?:utf8|unicode-1-1-utf-8)$/, "utf-8")
      .replace(/^utf-16$/, "utf-16le")
      .replace(/^(?:latin1|iso-8859-1|us-ascii|ascii)$/, "windows-1252");
    this.fatal = Boolean(fatal);
    this.ignoreBOM = Boolean(ignoreBOM);
    try {
      host.decode(new ArrayBuffer(0), this.encoding, "");
    } catch {
      throw new RangeError(`The encoding label "${this.encoding.slice(0, 40)}" is not known. Use utf-8 or utf-16le.`);
    }
  }

  decode(source: Source = new ArrayBuffer(0), { stream = false }: TextDecodeOptions = {}): string {
    let bytes = new Uint8Array(copy(source));
    if (this.#rest.length > 0) bytes = joined(this.#rest, bytes);
    const end = stream && this.encoding === "utf-8" ? completeEnd(bytes) : bytes.length;
    this.#rest = bytes.slice(end);
    const flags = `${this.fatal ? "f" : ""}${this.ignoreBOM ? "b" : ""}`;
    try {
      return host.decode(bytes.slice(0, end).buffer, this.encoding, flags);
    } catch {
      throw new TypeError("The encoded data is not valid.");
    }
  }
}

function joined(first: Uint8Array, second: Uint8Array): Uint8Array<ArrayBuffer> {
  const both = new Uint8Array(first.length + second.length);
  both.set(first);
  both.set(second, first.length);
  return both;
}

/** Behind the last character of UTF-8 that is there whole. */
function completeEnd(bytes: Uint8Array): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back]!;
    if (byte < 0x80) return bytes.length;
    if (byte >= 0xc0) {
      const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2;
      return length > back ? bytes.length - back : bytes.length;
    }
  }
  return bytes.length;
}

/** Only for calls that were granted real randomness; hardening the realm takes the name away. */
const crypto = {
  getRandomValues<Kind extends ArrayBufferView<ArrayBuffer>>(array: Kind): Kind {
    const bytes = host.random(String(array.byteLength));
    new Uint8Array(array.buffer, array.byteOffset, array.byteLength).set(bytes);
    return array;
  },
};

install({ TextEncoder: GuestTextEncoder, TextDecoder: GuestTextDecoder, crypto });
