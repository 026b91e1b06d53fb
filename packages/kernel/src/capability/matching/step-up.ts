import { foldLetters } from "../../support/fold.ts";

/*
 * Steps to a folder above in an argument, in every reading of a program. Programs expand braces and classes (curl), wildcards, escapes, percent signs and variables, each in
 * its own way. All expansions are walked at once: each sign leads from the places where the text could be to those where it could be next, so the work grows with the length.
 */

/** Where a reader of a text could stand, as bits. */
const elsewhere = 1;
/** Where a segment begins. */
const begin = 2;
const afterDot = 4;
const afterDots = 8;
/** Behind two dots and a space: Windows drops what follows them. */
const afterSpace = 16;

/** A group in braces, or a class in brackets. */
interface Group {
  readonly close: "}" | "]";
  readonly from: number;
  /** Where its members end. */
  to: number;
}

/** Nested groups. No honest argument has more. */
const mostGroups = 32;
/** Nested decodings. No honest argument has more. */
const mostReadings = 12;

/** Whether some program could take a part of an argument for a step to the folder above. */
export function couldStepUp(argument: string): boolean {
  if (!argument.includes(".") && /^[^%\\[?*\u0080-\uffff]*$/.test(argument)) return false;
  const readings = new Set([argument]);
  // A loop over a set also visits the elements that it adds.
  for (const reading of readings) {
    if (readings.size > mostReadings || stepsUp(reading)) return true;
    for (const read of steps) readings.add(read(reading));
  }
  return false;
}

const steps: readonly ((text: string) => string)[] = [
  (text) => (isAscii(text) ? text : foldLetters(text)),
  (text) => (isAscii(text) ? text : foldLetters(text.replaceAll("\u00ad", "-"))),
  withoutPercent,
  (text) =>
    text.replace(
      /\\(?:x([0-9a-f]{2})|u([0-9a-f]{4})|0?([0-7]{3}))/gi,
      (all, hex?: string, unit?: string, octal = "0") =>
        String.fromCharCode(Number.parseInt(hex ?? unit ?? String(octal), hex || unit ? 16 : 8)),
    ),
];

const isAscii = (text: string): boolean => /^[\u0000-\u007f]*$/.test(text);

function withoutPercent(text: string): string {
  return (
    text
      // IIS.
      .replace(/%u([0-9a-f]{4})/gi, (_, unit: string) => String.fromCharCode(Number.parseInt(unit, 16)))
      .replace(/%c0%([89ab][0-9a-f])/gi, (_, byte: string) => String.fromCharCode(Number.parseInt(byte, 16) - 0x80))
      .replace(/(?:%[0-9a-f]{2})+/gi, (bytes) => {
        try {
          return decodeURIComponent(bytes);
        } catch {
          return bytes.replace(/%([0-7][0-9a-f])/gi, (_, byte: string) =>
            String.fromCharCode(Number.parseInt(byte, 16)),
          );
        }
      })
  );
}

/** A variable, which can be empty. */
const variable = /\$(?:[a-z_][a-z0-9_]*|\{[^{}]*\}|\([^()]*\))?|%[a-z_][a-z0-9_]*%/iy;

function stepsUp(text: string): boolean {
  const groups: Group[] = [];
  let places = begin;
  for (let at = 0; at < text.length; at++) {
    const sign = text[at]!;
    variable.lastIndex = at;
    const skipped = sign === "$" || sign === "%" ? variable.exec(text)?.[0].length : undefined;
    if (skipped !== undefined) {
      places |= elsewhere;
      at += skipped - 1;
      continue;
    }
    if (ends(sign) && (places & (afterDots | afterSpace)) !== 0) return true;
    places = grouped(groups, places, sign, text, at) ?? next(places, sign);
    if (groups.length > mostGroups) return true;
  }
  return (places & (afterDots | afterSpace)) !== 0;
}

/** Signs behind which two dots are a whole segment; a class can stand for one of them. */
const ends = (sign: string): boolean => /[/\\?#;[\n\r\t]/.test(sign);

function next(places: number, sign: string): number {
  switch (sign) {
    case "/":
    case "=":
    case ":":
      return begin;
    // A separator, an escape, or taken away.
    case "\\":
    case "\n":
    case "\r":
    case "\t":
      return places | begin;
    case ".":
      return dotted(places);
    case " ":
      return spaced(places);
    // A wildcard is no dot at the beginning of a name.
    case "?":
    case "*":
      return places | dotted(places & ~begin);
    case "'":
    case '"':
    case "^":
    case "`":
      return places | elsewhere;
    default:
      return elsewhere;
  }
}

function dotted(places: number): number {
  let to = places & afterSpace;
  if (places & begin) to |= afterDot;
  if (places & afterDot) to |= afterDots;
  if (places & (elsewhere | afterDots)) to |= elsewhere;
  return to;
}

function spaced(places: number): number {
  let to = elsewhere | (places & (begin | afterSpace));
  if (places & afterDots) to |= afterSpace;
  return to;
}

/**
 * The next places after a sign that makes groups, as a sign of a group and as itself. `undefined`
 * for every other sign. It skips unclosed groups.
 */
function grouped(groups: Group[], places: number, sign: string, text: string, at: number): number | undefined {
  if (sign === "{" || sign === "[") {
    groups.push({ close: sign === "{" ? "}" : "]", from: places, to: sign === "[" ? classOf(text, at, places) : 0 });
    return places | elsewhere;
  }
  if (sign !== "," && sign !== "}" && sign !== "]") return undefined;
  const of = groups.findLastIndex(({ close }) => close === (sign === "," ? "}" : sign));
  const group = groups[of];
  if (!group) return undefined;
  if (sign === ",") {
    group.to |= places;
    return group.from | elsewhere;
  }
  groups.splice(of, 1);
  return places | group.to | elsewhere;
}

/** A class stands for one of its signs, or for one that is not among them. */
function classOf(text: string, open: number, places: number): number {
  const rest = text.slice(open + 1, open + 1 + longestClass);
  const [own = ""] = /^[^\]]*/.exec(rest) ?? [];
  // With a class in it, it ends somewhere behind that.
  const signs = own.includes("[") ? rest : own;
  const isNegated = /^[!^]/.test(signs);
  const has = (sign: string): boolean => isNegated || signs.includes(sign) || hasRange(signs, sign);
  return (has(".") ? dotted(places) : 0) | (has("/") || has("\\") ? begin : 0) | elsewhere;
}

const longestClass = 64;

function hasRange(signs: string, sign: string): boolean {
  for (let at = 1; at < signs.length - 1; at++)
    if (signs[at] === "-" && signs[at - 1]! <= sign && sign <= signs[at + 1]!) return true;
  return false;
}
