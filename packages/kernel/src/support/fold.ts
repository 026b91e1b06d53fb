import { toForm } from "./unicode.ts";

/*
 * Texts as what forbids reads them: two that some reader takes for one are one. Everything that forbids by a text takes it from here, so that a path, an argument of
 * a tool and an argument of a command know the same spellings.
 */

/** The replacements of characters that the code page of a Windows program lacks. */
const nearest: readonly (readonly [RegExp, string])[] = [
  [/[\u2010-\u2015\u2212]/g, "-"],
  [/[\u2044\u2215\u29f8]/g, "/"],
  [/[\u00a5\u20a9\u2216\u29f5]/g, "\\"],
];

/**
 * A text in one case, without compatibility and invisible characters. The result stays the same
 * when it is folded again, also in upper or lower case.
 */
export function foldLetters(text: string): string {
  if (isAscii(text)) return text.toLowerCase();
  let plain = withoutInvisible(toForm("NFKC", withoutInvisible(text)));
  for (const [characters, letter] of nearest) plain = plain.replace(characters, letter);
  // All three, because each alone leaves letters apart that the others join: `ſ` and `s`, `ẞ` and `ß`, `ı` and `i`.
  const folded = plain.toLowerCase().toUpperCase().toLowerCase();
  // A sigma at the end of a word is one too: where a word ends, a pattern with a wildcard does not know.
  return toForm("NFKC", joinedI(folded.replaceAll("ς", "σ")));
}

/** `İ` in lower case is an `i` with a dot of its own, among other marks. */
function joinedI(text: string): string {
  return text.includes("\u0307")
    ? toForm("NFD", text).replace(/i\p{M}+/gu, (letter) => letter.replaceAll("\u0307", ""))
    : text;
}

function isAscii(text: string): boolean {
  return /^[\u0000-\u007f]*$/.test(text);
}

/** A variation selector, a joiner, a soft hyphen; what some of them stand between belongs together. */
function withoutInvisible(text: string): string {
  return text.replace(/\p{DI}/gu, "");
}

/** Characters that readers take for a space, and regular expressions do not. */
const otherSpaces = /[\u001c-\u001f\u0085\u2800]/g;
/** Anything but letters and signs of ASCII with single spaces between them, as most texts are. */
const unusual = /[^ -~]| {2}|^ | $/;

/** {@link foldLetters} of running text: with single spaces, and the digits of ASCII. */
export function foldText(text: string): string {
  if (!unusual.test(text)) return text.toLowerCase();
  return foldLetters(text.replace(otherSpaces, " ")).replace(/\s+/g, " ").trim().replace(otherDigits, asciiDigit);
}

const otherDigits = /[^\P{Nd}0-9]/gu;
/** UTF-16 units of a part: a long text is unfolded in parts, then folded in one piece. */
const pieceUnits = 4_096;

/**
 * UTF-16 units that folding a text works on: few characters stand for many others (`ﷺ` for eighteen). It looks no further than `most`; text of ASCII as most is costs nothing.
 */
export function foldWork(text: string, most: number): number {
  if (!unusual.test(text)) return 0;
  if (isAscii(text)) return text.length >> 2;
  let units = 0;
  for (let from = 0; from < text.length && units <= most; from += pieceUnits) {
    const piece = text.slice(from, from + pieceUnits);
    units += Math.max(piece.length, toForm("NFKC", piece).length);
  }
  return units;
}

/** Decimal digits stand in rows of ten, from zero on; some rows follow each other. */
function asciiDigit(digit: string): string {
  const point = digit.codePointAt(0) ?? 0;
  let first = point;
  while (/\p{Nd}/u.test(String.fromCodePoint(first - 1))) first--;
  return String((point - first) % 10);
}
