import { Decoded, type EncodedForm } from "./encoded-form.ts";

/** An escape that was read: how long it is, and the bytes that it stands for. */
interface Escaped {
  readonly length: number;
  readonly bytes: readonly number[];
}

/** One way to write bytes that programs undo. Every escape begins with the marker. */
export interface Escape {
  readonly marker: number;
  /** `undefined`: the text at `at` stands for itself. */
  readonly read: (bytes: Uint8Array, at: number) => Escaped | undefined;
}

/** The view behind a view. `undefined`: it has no such escape. */
export function decoded(source: EncodedForm, { marker, read }: Escape): EncodedForm | undefined {
  const { bytes } = source;
  let view: Decoded | undefined;
  for (let at = bytes.indexOf(marker); at >= 0; at = bytes.indexOf(marker, at)) {
    const escaped = read(bytes, at);
    if (escaped) {
      view ??= new Decoded(source);
      view.replace(at, at + escaped.length, escaped.bytes);
    }
    at += escaped?.length ?? 1;
  }
  return view?.end();
}

const code = (letter: string): number => letter.charCodeAt(0);
const lower = (byte: number | undefined): number => (byte ?? 0) | 0x20;

/** `-1` for what is no digit, the end of the bytes included. */
function digit(byte: number | undefined): number {
  if (byte === undefined) return -1;
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  return lower(byte) >= 0x61 && lower(byte) <= 0x66 ? lower(byte) - 0x57 : -1;
}

/** How many digits stand at a place, at most `most`. */
function digitsAt(bytes: Uint8Array, at: number, base: 10 | 16, most: number): number {
  let count = 0;
  for (; count < most; count++) {
    const value = digit(bytes[at + count]);
    if (value < 0 || value >= base) break;
  }
  return count;
}

function numberAt(bytes: Uint8Array, at: number, count: number, base: 10 | 16 = 16): number {
  let number = 0;
  for (let index = at; index < at + count; index++) number = number * base + digit(bytes[index]);
  return number;
}

/** Exactly so many hexadecimal digits; `-1` where there are fewer. */
function hexadecimal(bytes: Uint8Array, at: number, count: number): number {
  return digitsAt(bytes, at, 16, count) === count ? numberAt(bytes, at, count) : -1;
}

const byteEscape = (value: number, length: number): Escaped | undefined =>
  value < 0 ? undefined : { length, bytes: [value] };

/** As UTF-8; a surrogate on its own as the three bytes that some write for it. */
function characterEscape(point: number, length: number): Escaped | undefined {
  if (point < 0 || point > 0x10ffff) return undefined;
  if (point < 0x80) return { length, bytes: [point] };
  const tail = (shift: number): number => 0x80 | ((point >> shift) & 0x3f);
  if (point < 0x800) return { length, bytes: [0xc0 | (point >> 6), tail(0)] };
  if (point < 0x10000) return { length, bytes: [0xe0 | (point >> 12), tail(6), tail(0)] };
  return { length, bytes: [0xf0 | (point >> 18), tail(12), tail(6), tail(0)] };
}

/** `%u20AC` or `\u20ac`, or two of them for one character beyond 16 bits. */
function unicode(bytes: Uint8Array, at: number): Escaped | undefined {
  const unit = hexadecimal(bytes, at + 2, 4);
  const isPair = unit >= 0xd800 && unit < 0xdc00 && bytes[at + 6] === bytes[at] && lower(bytes[at + 7]) === code("u");
  const low = isPair ? hexadecimal(bytes, at + 8, 4) : -1;
  if (low >= 0xdc00 && low < 0xe000) return characterEscape(0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00), 12);
  return characterEscape(unit, 6);
}

/** Percent-encoding (RFC 3986), and the `%u20AC` of `escape` in JavaScript and of old servers. */
export const percent: Escape = {
  marker: code("%"),
  read: (bytes, at) =>
    lower(bytes[at + 1]) === code("u") ? unicode(bytes, at) : byteEscape(hexadecimal(bytes, at + 1, 2), 3),
};

const short: ReadonlyMap<number, number> = new Map(
  Object.entries({
    '"': '"',
    "'": "'",
    "`": "`",
    "\\": "\\",
    "/": "/",
    b: "\b",
    f: "\f",
    n: "\n",
    r: "\r",
    t: "\t",
  }).map(([letter, meaning]) => [code(letter), code(meaning)]),
);

/** Escapes in strings of JSON, and those that JavaScript, Python, Java and C add. */
export const backslash: Escape = {
  marker: code("\\"),
  read: (bytes, at) => {
    const letter = bytes[at + 1] ?? 0;
    const meaning = short.get(letter);
    if (meaning !== undefined) return byteEscape(meaning, 2);
    if (letter === code("x")) return byteEscape(hexadecimal(bytes, at + 2, 2), 4);
    if (letter === code("U")) return characterEscape(hexadecimal(bytes, at + 2, 8), 10);
    if (letter !== code("u")) return undefined;
    if (bytes[at + 2] !== code("{")) return unicode(bytes, at);
    const count = digitsAt(bytes, at + 3, 16, 6);
    const isClosed = count > 0 && bytes[at + 3 + count] === code("}");
    return isClosed ? characterEscape(numberAt(bytes, at + 3, count), count + 4) : undefined;
  },
};

const named: readonly (readonly [name: Uint8Array, character: string])[] = Object.entries({
  "amp;": "&",
  "lt;": "<",
  "gt;": ">",
  "quot;": '"',
  "apos;": "'",
}).map(([name, character]) => [new TextEncoder().encode(name), character]);

/** Character references of HTML and XML: by number, also without semicolon, and the five names that every encoder has. */
export const html: Escape = {
  marker: code("&"),
  read: (bytes, at) => {
    if (bytes[at + 1] !== code("#")) {
      const found = named.find(([name]) => name.every((byte, index) => lower(bytes[at + 1 + index]) === lower(byte)));
      return found && byteEscape(code(found[1]), found[0].length + 1);
    }
    const base = lower(bytes[at + 2]) === code("x") ? 16 : 10;
    const start = at + (base === 16 ? 3 : 2);
    const count = digitsAt(bytes, start, base, 7);
    const end = start + count + (bytes[start + count] === code(";") ? 1 : 0);
    return count > 0 ? characterEscape(numberAt(bytes, start, count, base), end - at) : undefined;
  },
};

/** Quoted-printable (RFC 2045, section 6.7): `=C3=A9`, and soft line breaks. */
export const quotedPrintable: Escape = {
  marker: code("="),
  read: (bytes, at) => {
    const end = at + 1 + (bytes[at + 1] === code("\r") ? 1 : 0);
    if (bytes[end] === code("\n")) return { length: end + 1 - at, bytes: [] };
    return byteEscape(hexadecimal(bytes, at + 1, 2), 3);
  },
};
