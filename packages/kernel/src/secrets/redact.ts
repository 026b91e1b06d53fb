import { yieldToEventLoop } from "../support/yield-to-event-loop.ts";
import { minLength } from "./found.ts";
import { bytesOf, textOf } from "./latin1.ts";
import type { Matcher, Match } from "./matcher.ts";

/**
 * Bytes searched at once: the work of a few milliseconds, because other calls wait for the thread.
 */
const pieceBytes = 65_536;

/** The searched values, and the replacement of each. */
export interface Search {
  readonly matcher: Matcher;
  readonly replacement: (value: string) => string;
}

function replaced(bytes: Uint8Array, matches: readonly Match[], { replacement }: Search): Uint8Array<ArrayBuffer> {
  const pieces: Uint8Array[] = [];
  let at = 0;
  for (const { from, to, value } of matches) {
    pieces.push(bytes.subarray(at, from), new TextEncoder().encode(replacement(value)));
    at = to;
  }
  return joined([...pieces, bytes.subarray(at)]);
}

function joined(pieces: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(pieces.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.length;
  }
  return whole;
}

/** A text of characters, or one that stands for bytes, as the values of headers do. */
export function redactText(text: string, search: Search): string {
  if (text.length < minLength || search.matcher.found.length === 0) return text;
  const narrow = /^[\u0000-\u00ff]*$/.test(text) ? redactNarrow(text, search) : text;
  if (/^[\u0000-\u007f]*$/.test(text)) return narrow;
  const bytes = new TextEncoder().encode(narrow);
  const matches = search.matcher.matchesIn(bytes);
  if (matches.length === 0) return narrow;
  return new TextDecoder("utf-8", { fatal: false, ignoreBOM: true }).decode(replaced(bytes, matches, search));
}

function redactNarrow(text: string, search: Search): string {
  const bytes = bytesOf(text);
  const matches = search.matcher.matchesIn(bytes);
  return matches.length === 0 ? text : textOf(replaced(bytes, matches, search));
}

/** A whole body, with a turn of the event loop between its pieces. */
export async function redactBytes(bytes: Uint8Array, search: Search): Promise<Uint8Array<ArrayBuffer>> {
  const redactor = new ByteRedactor(() => search);
  // A redactor searches what it held back anew: its pieces are no smaller than that.
  const size = Math.max(pieceBytes, search.matcher.maxLength);
  const pieces: Uint8Array[] = [];
  for (let at = 0; at < bytes.length; at += size) {
    if (at > 0) await yieldToEventLoop();
    pieces.push(redactor.push(bytes.subarray(at, at + size)));
  }
  return joined([...pieces, redactor.end()]);
}

/** A stream of bytes. It holds back what could be the beginning of a value. */
export class ByteRedactor {
  readonly #search: () => Search;
  #held = new Uint8Array();

  /** @param search asked for each piece: values can be revealed while the stream runs */
  constructor(search: () => Search) {
    this.#search = search;
  }

  push(piece: Uint8Array): Uint8Array<ArrayBuffer> {
    const search = this.#search();
    const { matcher } = search;
    const bytes = joined([this.#held, piece]);
    const matches = matcher.matchesIn(bytes);
    const cut = cutOf(bytes, matches, Math.max(0, bytes.length - Math.max(0, matcher.maxLength - 1)));
    this.#held = bytes.slice(cut);
    const whole = matches.filter(({ to }) => to <= cut);
    return replaced(bytes.subarray(0, cut), whole, search);
  }

  end(): Uint8Array<ArrayBuffer> {
    const search = this.#search();
    const rest = replaced(this.#held, search.matcher.matchesIn(this.#held), search);
    this.#held = new Uint8Array();
    return rest;
  }
}

/** Where a piece can end: in no value, and not where the rest of a run of backslashes would be read otherwise, two levels deep. */
function cutOf(bytes: Uint8Array, matches: readonly Match[], latest: number): number {
  let run = latest;
  while (bytes[run - 1] === 0x5c) run--;
  const cut = latest - ((latest - run) % 4);
  return matches.find(({ from, to }) => from < cut && to > cut)?.to ?? cut;
}
