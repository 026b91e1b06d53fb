import { createHash } from "node:crypto";
import { gzipSync } from "node:zlib";
import type { Redactor } from "@keyhole/kernel";

/** How a server can write a secret. `docs/secrets.md` has a row for each. */
export interface SecretEncoding {
  readonly name: string;
  readonly detail: string;
  /** Every form that the row stands for. */
  readonly forms: (value: string) => readonly (string | Buffer)[];
}

const utf8 = (text: string | Uint8Array): Buffer => Buffer.from(text as string, "utf8");
const hex = (value: number, digits: number): string => value.toString(16).padStart(digits, "0");

/** Of each UTF-16 unit, of each character, of each byte in UTF-8. */
const perUnit = (value: string, form: (unit: number) => string): string =>
  Array.from({ length: value.length }, (_, at) => form(value.charCodeAt(at))).join("");
const perPoint = (value: string, form: (point: number) => string): string =>
  Array.from(value, (each) => form(each.codePointAt(0)!)).join("");
const perByte = (value: string | Uint8Array, form: (byte: number) => string): string =>
  Array.from(utf8(value), form).join("");

const plainOr = (unit: number, form: string): string =>
  /[\w.~-]/.test(String.fromCharCode(unit)) ? String.fromCharCode(unit) : form;
const percent = (value: string | Uint8Array): string =>
  perByte(value, (byte) => plainOr(byte, `%${hex(byte, 2).toUpperCase()}`));
const percentAll = (value: string): string => perByte(value, (byte) => `%${hex(byte, 2)}`);
/** As `escape` of JavaScript. */
const percentUnit = (unit: number): string =>
  plainOr(unit, unit < 0x100 ? `%${hex(unit, 2)}` : `%u${hex(unit, 4).toUpperCase()}`);

const names: Readonly<Record<string, string>> = { "&": "amp", "<": "lt", ">": "gt", '"': "quot", "'": "apos" };
const html = (value: string): string => value.replace(/[&<>"']/g, (each) => `&${names[each]!};`);
const htmlAll = (value: string): string => perPoint(value, (point) => `&#${point};`);

const json = (value: string): string => JSON.stringify(value).slice(1, -1);
const jsonAll = (value: string): string => perUnit(value, (unit) => `\\u${hex(unit, 4)}`);
const jsonAscii = (value: string): string =>
  perUnit(json(value), (unit) => (unit < 0x7f ? String.fromCharCode(unit) : `\\u${hex(unit, 4)}`));

/** Lines of at most 76 bytes, as RFC 2045 has them. */
function quotedPrintable(value: string | Uint8Array, lineEnd = "\r\n"): string {
  let line = "";
  let text = "";
  for (const byte of utf8(value)) {
    const isPlain = byte > 0x20 && byte < 0x7f && byte !== 0x3d;
    const next = isPlain ? String.fromCharCode(byte) : `=${hex(byte, 2).toUpperCase()}`;
    if (line.length + next.length > 75) {
      text += `${line}=${lineEnd}`;
      line = "";
    }
    line += next;
  }
  return text + line;
}

const inLines = (text: string, columns: number, lineEnd: string): string =>
  text.replace(new RegExp(`.{${columns}}(?=.)`, "g"), `$&${lineEnd}`);

/** In the base64 of a longer text, at each place of a group. */
const base64 = (value: string): readonly string[] =>
  ["", "u:", "user:", "key="].map((before) => utf8(before + value).toString("base64"));

const latin1 = (value: string): readonly Buffer[] =>
  /^[\u0000-\u00ff]*$/.test(value) ? [Buffer.from(value, "latin1")] : [];
const utf16 = (value: string): readonly Buffer[] => [
  Buffer.from(value, "utf16le"),
  Buffer.from(value, "utf16le").swap16(),
];

/** The escapes that the kernel undoes inside one another. */
export const escapes: Readonly<Record<string, (value: string) => string>> = {
  percent,
  backslash: jsonAscii,
  html: (value) => html(value).replaceAll("=", "&#x3D;").replaceAll("\\", "&#92;"),
  "quoted-printable": (value) => quotedPrintable(value),
};

function nested(value: string): readonly string[] {
  const within = [
    ...Object.values(escapes).map((inner) => inner(value)),
    ...base64(value),
    ...base64(value).map((text) => inLines(text, 60, "\n")),
    utf8(value).toString("hex"),
  ];
  const bytes = [...latin1(value), ...utf16(value)];
  return [
    ...Object.values(escapes).flatMap((outer) => within.map((each) => outer(each))),
    ...bytes.flatMap((each) => [percent(each), quotedPrintable(each)]),
  ];
}

/** A value of several lines in other ones. Line breaks are `\n`, so that each form is another text. */
function otherLines(value: string): readonly string[] {
  const joined = value.replace(/[ \t]*\n[ \t\n]*/g, "").replace(/^[ \t]+|[ \t]+$/g, "");
  const isInLines = /[^ \t\n][^]*\n[^]*[^ \t\n]/.test(value) && !value.includes("\r") && joined.length >= 8;
  return isInLines ? [value.replaceAll("\n", "\r\n"), value.replaceAll("\n", "\n    "), joined] : [];
}

/** Those that are found. */
export const encodings: readonly SecretEncoding[] = [
  {
    name: "plain text",
    detail: "UTF-8, with ASCII letters in any case, as in names of headers and hosts",
    forms: (value) => [
      value,
      value.replace(/[a-z]/g, (each) => each.toUpperCase()),
      value.replace(/[A-Z]/g, (each) => each.toLowerCase()),
    ],
  },
  { name: "ISO 8859-1", detail: "of a value with no character beyond U+00FF", forms: latin1 },
  { name: "UTF-16", detail: "little endian and big endian", forms: utf16 },
  {
    name: "percent-encoding",
    detail: "of all or some characters, with digits in any case, up to three times",
    forms: (value) => {
      const all = percentAll(percentAll(value));
      const twice = percent(percent(value));
      return [percent(value), percent(value).toLowerCase(), percentAll(value), twice, all, percent(twice), percentAll(all)]; // prettier-ignore
    },
  },
  {
    name: "`%u` escapes",
    detail: "`%u20AC`, alone and beside `%E9` or `%C3%A9`",
    forms: (value) => [
      perUnit(value, percentUnit),
      perUnit(value, (unit) => `%u${hex(unit, 4)}`),
      perPoint(value, (point) => {
        const character = String.fromCodePoint(point);
        return point > 0xff ? perUnit(character, percentUnit) : percent(character);
      }),
    ],
  },
  {
    name: "form encoding",
    detail: "percent-encoding with `+` for a space",
    forms: (value) => [new URLSearchParams({ x: value }).toString().slice(2)],
  },
  {
    name: "backslash escapes",
    detail:
      'of JSON, JavaScript, Python, Java and C: `\\"` `\\/` `\\n` `\\u20ac` `\\u{20ac}` `\\U000020ac` `\\xe9`; twice',
    forms: (value) => {
      const slashed = jsonAscii(value).replaceAll("/", "\\/");
      const once = [
        json(value),
        slashed,
        jsonAll(value),
        perUnit(value, (unit) => `\\u${hex(unit, 4).toUpperCase()}`),
        perPoint(value, (point) => `\\u{${hex(point, 1)}}`),
        perPoint(value, (point) => `\\U${hex(point, 8)}`),
        perByte(value, (byte) => `\\x${hex(byte, 2)}`),
      ];
      return [...once, ...once.map(json)];
    },
  },
  {
    name: "character references",
    detail:
      "of HTML and XML: `&amp;` `&lt;` `&gt;` `&quot;` `&apos;`, and any by number, with or without semicolon; twice",
    forms: (value) => {
      const once = [
        html(value),
        htmlAll(value),
        perPoint(value, (point) => `&#x${hex(point, 6).toUpperCase()};`),
        perPoint(value, (point) => `&#${point}`),
      ];
      return [...once, ...once.map(html)];
    },
  },
  {
    name: "quoted-printable",
    detail: "with soft line breaks",
    forms: (value) => [
      quotedPrintable(value),
      quotedPrintable(value, "\n"),
      inLines(perByte(value, (byte) => `=${hex(byte, 2)}`), 6, "=\n"), // prettier-ignore
    ],
  },
  {
    name: "hexadecimal digits",
    detail: "in any case, without separators",
    forms: (value) => [utf8(value).toString("hex"), utf8(value).toString("hex").toUpperCase()],
  },
  {
    name: "base64 and base64url",
    detail: "at any place of a longer text, with or without padding, in any case",
    forms: (value) =>
      base64(value).flatMap((text) => {
        const url = text.replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
        return [text, url, url.toLowerCase()];
      }),
  },
  {
    name: "base64 in lines",
    detail: "as in MIME and PEM: line breaks at any column, with spaces and tabs around them",
    forms: (value) =>
      base64(value).flatMap((text) => [
        inLines(text, 64, "\n"),
        inLines(text, 76, "\r\n"),
        inLines(text, 4, "\n"),
        inLines(text, 7, "\r\n    "),
      ]),
  },
  { name: "other line breaks", detail: "in a value of several lines: CRLF, indented, or none", forms: otherLines },
  {
    name: "one inside another",
    detail:
      "one of percent-encoding, backslash escapes, character references and quoted-printable around another, or around base64, hexadecimal digits, ISO 8859-1 and UTF-16",
    forms: nested,
  },
];

/** Those that are not. */
export const unfound: readonly SecretEncoding[] = [
  { name: "compressed", detail: "gzip or Brotli inside a body", forms: (value) => [gzipSync(value)] },
  {
    name: "encrypted or hashed",
    detail: "a tool can test guesses against a hash",
    forms: (value) => [createHash("sha256").update(value).digest("hex")],
  },
  {
    name: "rearranged",
    detail: "reversed, ROT13, other Unicode characters that look alike",
    forms: (value) => [Array.from(value).toReversed().join("")],
  },
  { name: "in part", detail: "all but the last character", forms: (value) => [value.slice(0, -1)] },
  {
    name: "in several places",
    detail: "two fields, two headers, two answers, one character per list element",
    forms: (value) => [JSON.stringify([value.slice(0, 6), value.slice(6)]), JSON.stringify(Array.from(value))],
  },
  {
    name: "as a list of numbers",
    detail: "bytes in JSON, hexadecimal digits with separators",
    forms: (value) => [JSON.stringify([...utf8(value)]), Array.from(utf8(value), (byte) => hex(byte, 2)).join(":")],
  },
  {
    name: "in other encodings",
    detail: "base32, base58, base85, base64 of base64, UTF-7, UTF-32, EBCDIC",
    forms: (value) => [
      utf8(utf8(value).toString("base64")).toString("base64"),
      Buffer.from(Array.from(value).flatMap((each) => [each.charCodeAt(0), 0, 0, 0])),
    ],
  },
  {
    name: "in other escapes",
    detail: "of CSS, SQL and shells, octal numbers, other names of HTML, three kinds inside one another",
    forms: (value) => [perByte(value, (byte) => `\\${byte.toString(8).padStart(3, "0")}`), percentAll(jsonAll(htmlAll(value)))], // prettier-ignore
  },
];

const folded = (text: string | Uint8Array): string => utf8(text).toString("latin1").toLowerCase();
let last: { value: string; rows: readonly (readonly [name: string, forms: readonly string[]])[] } | undefined;

/** The rows in which a value stands in an answer, or in everything that a call shows. */
export function rowsIn(shown: string | Uint8Array, value: string): readonly string[] {
  if (last?.value !== value)
    last = { value, rows: encodings.map(({ name, forms }) => [name, forms(value).map(folded)]) };
  const text = folded(shown);
  return last.rows.flatMap(([name, forms]) => (forms.some((form) => text.includes(form)) ? [name] : []));
}

/** What comes out of a stream that was cut at these places. */
export function streamed(redactor: Redactor, bytes: Uint8Array, cuts: readonly number[] = []): Buffer {
  const places = [0, ...cuts.map((cut) => Math.min(cut, bytes.length)).toSorted((a, b) => a - b), bytes.length];
  const pieces = places.slice(1).map((to, at) => redactor.push(bytes.subarray(places[at], to)));
  return Buffer.concat([...pieces, redactor.end()]);
}
