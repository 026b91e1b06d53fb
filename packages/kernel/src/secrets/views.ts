/**
 * A text as a reader would decode it, with the way back: what stands at one place of it comes from which place of the original. Texts are of one
 * character per byte.
 */
export interface View {
  readonly text: string;
  /** Where each character of `text` begins in the original, and behind the last where the original ends. `undefined`: where it stands. */
  readonly from: Uint32Array | undefined;
}

type Decode = (text: string) => View;

/** Made of a pattern whose matches stand for something else; `meaning` says what, `undefined` that it stands for itself. */
function decoder(pattern: RegExp, meaning: (match: string) => string | undefined): Decode {
  return (text) => {
    const parts: string[] = [];
    const from = new Uint32Array(text.length + 1);
    let length = 0;
    let copied = 0;
    const copyTo = (end: number): void => {
      parts.push(text.slice(copied, end));
      while (copied < end) from[length++] = copied++;
    };
    for (const { 0: match, index } of text.matchAll(pattern)) {
      const said = meaning(match);
      if (said === undefined) continue;
      copyTo(index);
      parts.push(said);
      for (let at = 0; at < said.length; at++) from[length++] = index;
      copied = index + match.length;
    }
    copyTo(text.length);
    from[length] = text.length;
    return { text: parts.join(""), from: from.subarray(0, length + 1) };
  };
}

function utf8(codePoint: number): string | undefined {
  if (codePoint > 0x10ffff) return undefined;
  return String.fromCharCode(...new TextEncoder().encode(String.fromCodePoint(codePoint)));
}

const byteOf = (digits: string): string => String.fromCharCode(Number.parseInt(digits, 16));

const percent = decoder(/%[0-9a-f]{2}/gi, (match) => byteOf(match.slice(1)));
/** As HTML forms write it. */
const form = decoder(/%[0-9a-f]{2}|\+/gi, (match) => (match === "+" ? " " : byteOf(match.slice(1))));

const shortEscapes: ReadonlyMap<string, string> = new Map(
  Object.entries({ '"': '"', "\\": "\\", "/": "/", b: "\b", f: "\f", n: "\n", r: "\r", t: "\t" }),
);
const json = decoder(/\\(?:ud[89ab][0-9a-f]{2}\\ud[c-f][0-9a-f]{2}|u[0-9a-f]{4}|["\\/bfnrt])/gi, (match) => {
  const [, letter] = match;
  if (letter !== "u" && letter !== "U") return shortEscapes.get(letter!);
  const units = [match.slice(2, 6), match.slice(8)].filter((digits) => digits !== "");
  return utf8(String.fromCharCode(...units.map((digits) => Number.parseInt(digits, 16))).codePointAt(0)!);
});

const named: ReadonlyMap<string, string> = new Map(
  Object.entries({ "&amp;": "&", "&lt;": "<", "&gt;": ">", "&quot;": '"', "&apos;": "'" }),
);
const html = decoder(/&(?:amp|lt|gt|quot|apos|#x[0-9a-f]{1,6}|#[0-9]{1,7});/gi, (match) => {
  if (match[1] !== "#") return named.get(match.toLowerCase());
  const isHexadecimal = match[2] === "x" || match[2] === "X";
  return utf8(Number.parseInt(match.slice(isHexadecimal ? 3 : 2, -1), isHexadecimal ? 16 : 10));
});

/** No decoder makes more of one character, used as often as it is below: `%252541`, `\\u0041`, `&#x000041;`. */
export const longestSpelling = 10;

/** What a reader could see in a text: itself, and what it decodes to. */
export function viewsOf(text: string): readonly View[] {
  const views: View[] = [{ text, from: undefined }];
  const add = (decode: Decode, marker: string, times: number): void => {
    let view = views[0]!;
    for (let time = 0; time < times && view.text.includes(marker); time++) {
      view = behind(view, decode(view.text));
      views.push(view);
    }
  };
  add(percent, "%", 3);
  add(form, "+", 1);
  add(json, "\\", 2);
  add(html, "&", 1);
  return views;
}

/** A view of a view. */
function behind(first: View, second: View): View {
  const { from } = first;
  return from && second.from ? { text: second.text, from: second.from.map((at) => from[at]!) } : second;
}
