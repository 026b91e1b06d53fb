import { plainForm } from "./encoded-form.ts";
import { longestSpelling, withoutBreaks } from "./encoded-forms.ts";

/** Bytes to look for in the views of an answer. */
export interface Pattern {
  /** Folded. */
  readonly bytes: Uint8Array;
  /** Digits of base64 beside them that hold bits of the value as well. */
  readonly before: 0 | 1;
  readonly behind: 0 | 1;
}

/** One value to find in every answer. */
export interface Found {
  readonly value: string;
  readonly patterns: readonly Pattern[];
  /** No spelling that is found is longer, in bytes. */
  readonly maxLength: number;
}

/** UTF-16 units. A shorter value occurs by chance in ordinary answers, and could not be removed. */
export const minLength = 8;
export const maxLength = 4_096;

/**
 * How bytes are compared: without the case of ASCII letters, which headers, hosts and hexadecimal digits lose, and without the difference of base64 and
 * base64url.
 */
const fold: Uint8Array = Uint8Array.from({ length: 256 }, (_, byte) => {
  if (byte >= 0x41 && byte <= 0x5a) return byte | 0x20;
  if (byte === 0x2d) return 0x2b;
  return byte === 0x5f ? 0x2f : byte;
});

const folded = (bytes: Uint8Array): Uint8Array => bytes.map((byte) => fold[byte] ?? byte);

/** One byte as it is compared. Nothing stands behind the end. */
export const foldedAt = (bytes: Uint8Array, at: number): number => fold[bytes[at] ?? 0] ?? 0;

/**
 * The patterns of one value: as it is in UTF-8, in Latin-1 and in UTF-16, in hexadecimal digits, in base64 at any place of a longer text. Escapes are the
 * views' to undo.
 */
export function finder(value: string): Found {
  const bytes = new TextEncoder().encode(value);
  const plain = [bytes, ...variantsOf(value, bytes), hexadecimal(bytes), wide(value, true), wide(value, false)];
  const patterns = plain.map((each): Pattern => ({ bytes: folded(each), before: 0, behind: 0 }));
  const inBase64 = [0, 1, 2].map((offset) => base64(bytes, offset));
  return { value, patterns: [...patterns, ...inBase64], maxLength: longestSpelling * bytes.length };
}

/** The value as in a form, in another character set or in wrapped lines. */
function variantsOf(value: string, bytes: Uint8Array): readonly Uint8Array[] {
  const variants: Uint8Array[] = [];
  if (bytes.includes(0x20)) variants.push(bytes.map((byte) => (byte === 0x20 ? 0x2b : byte)));
  if (/[\u0080-\u00ff]/.test(value)) variants.push(narrow(value));
  const unwrapped = withoutBreaks(plainForm(bytes));
  const key = unwrapped && trimmed(unwrapped.bytes);
  if (key && key.length >= minLength) variants.push(key);
  return variants;
}

function trimmed(bytes: Uint8Array): Uint8Array {
  const isSpace = (byte: number | undefined): boolean => byte === 0x20 || byte === 0x09;
  let [from, to] = [0, bytes.length];
  while (isSpace(bytes[from])) from++;
  while (to > from && isSpace(bytes[to - 1])) to--;
  return bytes.subarray(from, to);
}

/**
 * The value in Latin-1. Other characters stay in UTF-8, as in `escape` of JavaScript, which mixes
 * both.
 */
function narrow(value: string): Uint8Array {
  return Uint8Array.from(
    Array.from(value).flatMap((character) =>
      character <= "\u00ff" ? [character.charCodeAt(0)] : [...new TextEncoder().encode(character)],
    ),
  );
}

function hexadecimal(bytes: Uint8Array): Uint8Array {
  return new TextEncoder().encode(Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join(""));
}

function wide(value: string, isLittleEndian: boolean): Uint8Array {
  const view = new DataView(new ArrayBuffer(2 * value.length));
  for (let at = 0; at < value.length; at++) view.setUint16(2 * at, value.charCodeAt(at), isLittleEndian);
  return new Uint8Array(view.buffer);
}

/** The digits that a value has in the base64 of a longer text, `offset` bytes behind a whole group. Those at its ends depend on what stands beside it. */
function base64(bytes: Uint8Array, offset: number): Pattern {
  const end = offset + bytes.length;
  const digits = btoa("\0".repeat(offset) + Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
  const inner = digits.slice(Math.ceil((offset * 8) / 6), Math.floor((end * 8) / 6));
  return {
    bytes: folded(new TextEncoder().encode(inner)),
    before: offset === 0 ? 0 : 1,
    behind: end % 3 === 0 ? 0 : 1,
  };
}
