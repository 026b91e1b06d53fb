const encoder = /* @__PURE__ */ new TextEncoder();

/** UTF-8 bytes of a text. */
export function byteLength(text: string): number {
  return encoder.encode(text).length;
}

/** The largest count from 0 to `most` whose text has at most `limitBytes`; `undefined` where that of 0 has more. Texts must not shrink with the count. */
export function largestCount(most: number, limitBytes: number, textOf: (count: number) => string): number | undefined {
  const fits = (count: number): boolean => byteLength(textOf(count)) <= limitBytes;
  if (!fits(0)) return undefined;
  let [low, high] = [0, most];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (fits(middle)) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** Whether a byte begins a character of UTF-8. */
const begins = (byte: number | undefined): boolean => byte === undefined || (byte & 0xc0) !== 0x80;

/** The first place at or after `at` that cuts no character in two. */
export function characterStart(bytes: Uint8Array, at: number): number {
  let start = Math.min(at, bytes.length);
  while (!begins(bytes[start])) start++;
  return start;
}

function characterEnd(bytes: Uint8Array, at: number): number {
  let end = at;
  while (end > 0 && !begins(bytes[end])) end--;
  return end;
}

export interface Piece {
  /** UTF-8 text, or base64 where the content is no text. */
  readonly piece: string;
  /** Where the piece ends, in bytes of the content. */
  readonly end: number;
}

/** The text that `write` makes of the longest piece of `content` from `start` on, with at most `limitBytes`. Cuts no character in two. */
export function longestPiece(
  content: Uint8Array,
  start: number,
  limitBytes: number,
  encode: ((bytes: Uint8Array) => string) | undefined,
  write: (piece: Piece) => string,
): string {
  const decoder = new TextDecoder("utf-8", { fatal: false, ignoreBOM: true });
  const pieceOf = (count: number): Piece => {
    const end = encode ? start + count : characterEnd(content, start + count);
    const bytes = content.subarray(start, Math.max(start, end));
    return { piece: encode ? encode(bytes) : decoder.decode(bytes), end: Math.max(start, end) };
  };
  // A piece has at least as many bytes as the text that has it, so that the search skips longer texts.
  const most = Math.min(content.length - start, limitBytes);
  const count = largestCount(most, limitBytes, (each) => write(pieceOf(each)));
  return write(pieceOf(count ?? 0));
}
