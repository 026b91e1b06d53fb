import type { Idna } from "./types.ts";

/**
 * IDNA 2008. The code computes the derived property of RFC 5892 from the engine's own Unicode
 * tables and carries no table. It lists only the viramas and the joining types, which engines do
 * not expose.
 */
const BASE = 36,
  T_MIN = 1,
  T_MAX = 26;

function adapt(delta: number, points: number, first: boolean): number {
  let rest = first ? Math.floor(delta / 700) : delta >> 1;
  rest += Math.floor(rest / points);
  let k = 0;
  for (; rest > 455; k += BASE) rest = Math.floor(rest / 35);
  return k + Math.floor((36 * rest) / (rest + 38));
}

const threshold = (k: number, bias: number): number => Math.min(T_MAX, Math.max(T_MIN, k - bias));

/** Punycode (RFC 3492 section 6.3), without the prefix. */
function encode(label: string): string {
  const points = Array.from(label, (char) => char.codePointAt(0) as number);
  let out = points
    .filter((point) => point < 128)
    .map((point) => String.fromCharCode(point))
    .join("");
  const basic = out.length;
  if (basic > 0) out += "-";
  let n = 128,
    delta = 0,
    bias = 72,
    handled = basic;
  while (handled < points.length) {
    const next = Math.min(...points.filter((point) => point >= n));
    delta += (next - n) * (handled + 1);
    n = next;
    for (const point of points) {
      if (point < n) delta++;
      if (point !== n) continue;
      let q = delta;
      for (let k = BASE; ; k += BASE) {
        const t = threshold(k, bias);
        if (q < t) break;
        out += digit(t + ((q - t) % (BASE - t)));
        q = Math.floor((q - t) / (BASE - t));
      }
      out += digit(q);
      bias = adapt(delta, handled + 1, handled === basic);
      delta = 0;
      handled++;
    }
    delta++;
    n++;
  }
  return out;
}

const digit = (value: number): string => String.fromCharCode(value < 26 ? 97 + value : 22 + value);

/** Punycode (RFC 3492 section 6.2); undefined for what no label encodes to. */
function decode(text: string): string | undefined {
  const dash = text.lastIndexOf("-");
  const points = Array.from(dash > 0 ? text.slice(0, dash) : "", (char) => char.charCodeAt(0));
  let n = 128,
    i = 0,
    bias = 72;
  for (let at = dash > 0 ? dash + 1 : 0; at < text.length;) {
    const before = i;
    for (let w = 1, k = BASE; ; k += BASE) {
      const unit = text.charCodeAt(at++);
      const value = unit >= 97 && unit <= 122 ? unit - 97 : unit >= 48 && unit <= 57 ? unit - 22 : NaN;
      if (!(value >= 0)) return undefined;
      i += value * w;
      const t = threshold(k, bias);
      if (value < t) break;
      w *= BASE - t;
    }
    const length = points.length + 1;
    bias = adapt(i - before, length, before === 0);
    n += Math.floor(i / length);
    if (n > 0x10ffff) return undefined;
    i %= length;
    points.splice(i++, 0, n);
  }
  return String.fromCodePoint(...points);
}

const PVALID_EXCEPTIONS = /[ßς۽۾་〇]/u;
const DISALLOWED_EXCEPTIONS = /[\u0640\u07fa\u302e\u302f\u3031-\u3035\u303b]/u;
const LETTER_DIGIT = /[\p{Ll}\p{Lu}\p{Lo}\p{Nd}\p{Lm}\p{Mn}\p{Mc}]/u;
const IGNORABLE =
  /[\p{DI}\p{White_Space}\p{NChar}\u20d0-\u20ff\u{1d100}-\u{1d24f}\u1100-\u11ff\ua960-\ua97c\ud7b0-\ud7fb]/u;

/** RFC 5892 section 2, PVALID. */
function isPvalid(char: string): boolean {
  if (PVALID_EXCEPTIONS.test(char) || /[-0-9a-z]/.test(char)) return true;
  if (DISALLOWED_EXCEPTIONS.test(char) || IGNORABLE.test(char) || !LETTER_DIGIT.test(char)) return false;
  const folded = char.normalize("NFKC");
  // Case folding goes to lower case, but for Cherokee.
  return (/\p{sc=Cher}/u.test(char) ? folded.toUpperCase() : folded.toLowerCase()).normalize("NFKC") === char;
}

/** Canonical_Combining_Class=Virama, Unicode 16. */
const VIRAMA =
  /[\u094d\u09cd\u0a4d\u0acd\u0b4d\u0bcd\u0c4d\u0ccd\u0d3b\u0d3c\u0d4d\u0dca\u0e3a\u0eba\u0f84\u1039\u103a\u1714\u1715\u1734\u17d2\u1a60\u1b44\u1baa\u1bab\u1bf2\u1bf3\u2d7f\ua806\ua82c\ua8c4\ua953\ua9c0\uaaf6\uabed\u{10a3f}\u{11046}\u{11070}\u{1107f}\u{110b9}\u{11133}\u{11134}\u{111c0}\u{11235}\u{112ea}\u{1134d}\u{113ce}-\u{113d0}\u{11442}\u{114c2}\u{115bf}\u{1163f}\u{116b6}\u{1172b}\u{11839}\u{1193d}\u{1193e}\u{119e0}\u{11a34}\u{11a47}\u{11a99}\u{11c3f}\u{11d44}\u{11d45}\u{11d97}\u{11f41}\u{11f42}\u{1612f}]$/u;
const RIGHT =
  "\\u0622-\\u0625\\u0627\\u0629\\u062f-\\u0632\\u0648\\u0671-\\u0673\\u0675-\\u0677\\u0688-\\u0699\\u06c0\\u06c3-\\u06cb\\u06cd\\u06cf\\u06d2\\u06d3\\u06d5\\u06ee\\u06ef\\u0710\\u0715-\\u0719\\u071e\\u0728\\u072a\\u072c\\u072f\\u074d\\u0759-\\u075b\\u076b\\u076c\\u0771\\u0773\\u0774\\u0778\\u0779\\u08aa-\\u08ac\\u08ae\\u08b1\\u08b2\\u08b9";
/** Letters of scripts that join; those of Arabic and Syriac that join on the right only, or not at all, are told apart. */
const DUAL = `(?![${RIGHT}\\u0621\\u0674])(?=\\p{L})[\\p{sc=Arab}\\p{sc=Syrc}\\p{sc=Nkoo}\\p{sc=Mand}\\p{sc=Mong}\\p{sc=Phag}\\p{sc=Adlm}\\p{sc=Rohg}\\p{sc=Mani}]`;
const JOINED_BEFORE = new RegExp(`${DUAL}\\p{M}*$`, "u");
const JOINED_AFTER = new RegExp(`^\\p{M}*(?:[${RIGHT}]|${DUAL})`, "u");

/** RFC 5892 appendix A: code points that are allowed in some contexts. */
function fitsContext(char: string, before: string, after: string, label: string): boolean {
  switch (char) {
    case "\u200c":
      return VIRAMA.test(before) || (JOINED_BEFORE.test(before) && JOINED_AFTER.test(after));
    case "\u200d":
      return VIRAMA.test(before);
    case "·":
      return before.endsWith("l") && after.startsWith("l");
    case "͵":
      return /^\p{sc=Grek}/u.test(after);
    case "׳":
    case "״":
      return /\p{sc=Hebr}$/u.test(before);
    case "・":
      return /[\p{sc=Hira}\p{sc=Kana}\p{sc=Hani}]/u.test(label);
  }
  if (/[٠-٩]/.test(char)) return !/[۰-۹]/.test(label);
  return /[۰-۹]/.test(char) && !/[٠-٩]/.test(label);
}

const RTL =
  "\\u05be\\u05c0\\u05c3\\u05c6\\u05d0-\\u05ff\\u0608\\u060b\\u060d\\u061b-\\u064a\\u066d-\\u066f\\u0671-\\u06d5\\u06e5\\u06e6\\u06ee\\u06ef\\u06fa-\\u08c9\\ufb1d-\\ufdff\\ufe70-\\ufefc\\u{10800}-\\u{10d23}\\u{10d4a}-\\u{10e5f}\\u{10e80}-\\u{10fff}\\u{1e800}-\\u{1efff}";
const AN =
  "\\u0600-\\u0605\\u0660-\\u0669\\u066b\\u066c\\u06dd\\u0890\\u0891\\u08e2\\u{10d30}-\\u{10d49}\\u{10e60}-\\u{10e7e}";
const EN = "0-9\\u06f0-\\u06f9";
const MAY_BE_RTL = new RegExp(`[${RTL}${AN}]`, "u");
const RTL_LABEL = new RegExp(
  `^(?!\\p{Mn})(?=[${RTL}])(?:[${RTL}${AN}${EN}\\u200c\\u200d-]|\\p{Mn})*(?<=[${RTL}${AN}${EN}]\\p{Mn}*)$`,
  "u",
);
const LTR_LABEL = new RegExp(`^(?![${RTL}${AN}${EN}]|\\p{Mn})[^${RTL}${AN}]*(?<=[^${RTL}${AN}-]\\p{Mn}*)$`, "u");
const BOTH_DIGITS = new RegExp(`[${AN}].*[${EN}]|[${EN}].*[${AN}]`, "u");

/** RFC 5893 section 2. */
function obeysBidi(label: string, domain: string): boolean {
  if (!MAY_BE_RTL.test(domain)) return true;
  return (RTL_LABEL.test(label) && !BOTH_DIGITS.test(label)) || LTR_LABEL.test(label);
}

/** RFC 5891 section 4.2. */
function isULabel(label: string, domain: string): boolean {
  if (
    label.length > 63 ||
    label !== label.normalize("NFC") ||
    /^-|^..--|-$|^\p{M}/u.test(label) ||
    !obeysBidi(label, domain)
  )
    return false;
  let before = "";
  for (const char of label) {
    if (!isPvalid(char) && !fitsContext(char, before, label.slice(before.length + char.length), label)) return false;
    before += char;
  }
  return true;
}

/** Octets of a label in its ASCII form; more than 63 for one that has none. */
function labelLength(label: string): number {
  if (label.length > 63) return 64;
  return /^[\0-\x7f]*$/.test(label) ? label.length : encode(label).length + 4;
}

/** RFC 5891 section 5.4: Punycode of a valid U-label, and the one spelling of it. */
function isALabel(label: string): boolean {
  const text = label.slice(4).toLowerCase();
  const decoded = text.length > 59 ? undefined : decode(text);
  return decoded !== undefined && /[^\0-\x7f]/.test(decoded) && encode(decoded) === text && isULabel(decoded, decoded);
}

/** Hands internationalised host names to `compileSchema({ … }, { idna })`, exactly as IDNA 2008 has them. */
export const idna: Idna = {
  aLabel: isALabel,
  hostname(text) {
    const labels = text.split(/[.。．｡]/);
    const lengths = labels.map(labelLength);
    if (
      lengths.some((length) => length === 0 || length > 63) ||
      lengths.reduce((sum, length) => sum + length + 1, -1) > 253
    )
      return false;
    const domain = labels.join(".");
    return labels.every((label) => (/^xn--/i.test(label) ? isALabel(label) : isULabel(label.toLowerCase(), domain)));
  },
};
