import { changeUrl, readUrl } from "./urls.ts";
import type { HostValue } from "./values.ts";
import type { HostFunctions } from "./vm.ts";

const encoder = new TextEncoder();

/** The encodings that all engines decode alike, beside `windows-1252`, which stands here. Engines have different tables for other legacy encodings. */
const encodings: ReadonlySet<string> = new Set(["utf-8", "utf-16le", "utf-16be"]);

/** The functions of the platform for the shell: equal everywhere, slow in an interpreter, and without state. */
export const services: HostFunctions = {
  encode: ([text]) => encoder.encode(textOf(text)),
  decode: ([bytes, label, flags]) => {
    const encoding = textOf(label);
    const given = bytes instanceof Uint8Array ? bytes : new Uint8Array();
    if (encoding === "windows-1252") return fromWindows1252(given);
    if (!encodings.has(encoding)) throw new RangeError("The encoding is unknown.");
    const options = { fatal: textOf(flags).includes("f"), ignoreBOM: textOf(flags).includes("b") };
    return new TextDecoder(encoding, options).decode(given);
  },
  parseUrl: ([url, base]) => readUrl(textOf(url), base === undefined ? undefined : textOf(base)),
  changeUrl: ([href, part, value]) => changeUrl(textOf(href), textOf(part), textOf(value)),
  random: ([count]) => crypto.getRandomValues(new Uint8Array(Math.min(Number(textOf(count)) || 0, 65_536))),
};

/** From 0x80 on; bytes that have no sign stand for themselves (Encoding Standard, index windows-1252). */
const signs =
  "\u20ac\u0081\u201a\u0192\u201e\u2026\u2020\u2021\u02c6\u2030\u0160\u2039\u0152\u008d\u017d\u008f" +
  "\u0090\u2018\u2019\u201c\u201d\u2022\u2013\u2014\u02dc\u2122\u0161\u203a\u0153\u009d\u017e\u0178";

/** Node has taken it for Latin-1. */
function fromWindows1252(bytes: Uint8Array): string {
  let text = "";
  for (const byte of bytes) text += byte >= 0x80 && byte < 0xa0 ? signs.charAt(byte - 0x80) : String.fromCharCode(byte);
  return text;
}

function textOf(value: HostValue): string {
  return typeof value === "string" ? value : "";
}
