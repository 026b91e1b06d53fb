import { bytesOf, textOf } from "./latin1.ts";
import { longestSpelling, type View, viewsOf } from "./views.ts";

/** One value to be found in whatever comes back, and what takes its place. */
export interface Found {
  /** As bytes. */
  readonly value: string;
  /** Its digits in base64, at each place in a group; in standard digits. */
  readonly base64: readonly string[];
  /** In lower case. */
  readonly hexadecimal: string;
  /** As UTF-16, of either byte order. */
  readonly wide: readonly string[];
  readonly replacement: string;
  /** No spelling that is found is longer, in bytes. */
  readonly maxLength: number;
}

/**
 * Finds a value as it is and as servers give it back: percent-encoded (up to three times over), form-encoded, escaped for JSON or HTML, in hexadecimal
 * digits, in UTF-16, in base64 and base64url at any place of a longer text. It cannot find what a server has encrypted, compressed, hashed or torn apart. Takes
 * time in proportion to text and value.
 */
export function finder(value: string, replacement: string): Found {
  const bytes = new TextEncoder().encode(value);
  return {
    value: textOf(bytes),
    base64: [0, 1, 2].map((offset) => base64(bytes, offset)),
    hexadecimal: Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join(""),
    wide: [wide(value, true), wide(value, false)],
    replacement,
    maxLength: longestSpelling * bytes.length,
  };
}

function wide(value: string, isLittleEndian: boolean): string {
  const view = new DataView(new ArrayBuffer(2 * value.length));
  for (let at = 0; at < value.length; at++) view.setUint16(2 * at, value.charCodeAt(at), isLittleEndian);
  return textOf(new Uint8Array(view.buffer));
}

/** The digits that a value has in the base64 of a longer text, `offset` bytes behind a whole group: those at its ends depend on what stands beside it. */
function base64(bytes: Uint8Array, offset: number): string {
  const shifted = new Uint8Array(offset + bytes.length);
  shifted.set(bytes, offset);
  return btoa(textOf(shifted)).slice(Math.ceil((offset * 8) / 6), Math.floor((shifted.length * 8) / 6));
}

interface Place {
  readonly from: number;
  readonly to: number;
  readonly replacement: string;
}

/** Where values stand in a text of one character per byte: in order, and apart from each other. */
function placesOf(text: string, found: readonly Found[]): readonly Place[] {
  const merged: Place[] = [];
  const all = found.length === 0 ? [] : viewsOf(text).flatMap((view) => placesIn(view, found));
  for (const place of all.toSorted((a, b) => a.from - b.from || b.to - a.to)) {
    const last = merged.at(-1);
    if (last && place.from < last.to) merged[merged.length - 1] = { ...last, to: Math.max(last.to, place.to) };
    else merged.push(place);
  }
  return merged;
}

function placesIn({ text, from }: View, found: readonly Found[]): readonly Place[] {
  const places: Place[] = [];
  const standard = text.replaceAll("-", "+").replaceAll("_", "/");
  const lower = text.toLowerCase();
  for (const { value, base64: digits, hexadecimal, wide: units, replacement } of found) {
    const look = (inside: string, wanted: string): void => {
      for (let at = inside.indexOf(wanted); at >= 0; at = inside.indexOf(wanted, at + 1)) {
        const end = at + wanted.length;
        places.push({ from: from?.[at] ?? at, to: from?.[end] ?? end, replacement });
      }
    };
    look(text, value);
    look(lower, hexadecimal);
    for (const each of units) look(text, each);
    for (const each of digits) look(standard, each);
  }
  return places;
}

function replaced(text: string, places: readonly Place[]): string {
  let clean = "";
  let at = 0;
  for (const { from, to, replacement } of places) {
    clean += text.slice(at, from) + replacement;
    at = to;
  }
  return clean + text.slice(at);
}

/** A text of characters, or one that stands for bytes, as the values of headers do. */
export function redactText(text: string, found: readonly Found[]): string {
  const narrow = /^[\u0000-\u00ff]*$/.test(text) ? replaced(text, placesOf(text, found)) : text;
  if (/^[\u0000-\u007f]*$/.test(text)) return narrow;
  const wide = textOf(new TextEncoder().encode(narrow));
  const places = placesOf(wide, found);
  return places.length === 0 ? narrow : new TextDecoder().decode(bytesOf(replaced(wide, places)));
}

/** How much of a body is looked through at once. */
const pieceBytes = 65_536;

export function redactBytes(bytes: Uint8Array, found: readonly Found[]): Uint8Array {
  const redactor = new ByteRedactor(() => found);
  const pieces: Uint8Array[] = [];
  for (let at = 0; at < bytes.length; at += pieceBytes) pieces.push(redactor.push(bytes.subarray(at, at + pieceBytes)));
  pieces.push(redactor.end());
  const whole = new Uint8Array(pieces.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.length;
  }
  return whole;
}

/** A stream of bytes. It holds back what could be the beginning of a value. */
export class ByteRedactor {
  readonly #found: () => readonly Found[];
  #held = "";

  /** @param found asked for each piece: values can be revealed while the stream runs */
  constructor(found: () => readonly Found[]) {
    this.#found = found;
  }

  push(piece: Uint8Array): Uint8Array<ArrayBuffer> {
    const found = this.#found();
    const text = this.#held + textOf(piece);
    const places = placesOf(text, found);
    let cut = Math.max(0, text.length - Math.max(0, ...found.map(({ maxLength }) => maxLength - 1)));
    // An escape stays in one piece, as far as a value could depend on it.
    for (let left = 64; left > 0 && cut > 0 && text[cut - 1] === "\\"; left--) cut--;
    const across = places.find(({ from, to }) => from < cut && to > cut);
    if (across) cut = across.to;
    this.#held = text.slice(cut);
    const whole = places.filter(({ to }) => to <= cut);
    return bytesOf(replaced(text.slice(0, cut), whole));
  }

  end(): Uint8Array<ArrayBuffer> {
    const rest = replaced(this.#held, placesOf(this.#held, this.#found()));
    this.#held = "";
    return bytesOf(rest);
  }
}
