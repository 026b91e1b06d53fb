import { ipv6 } from "./hosts.ts";

const UNRESERVED = "A-Za-z0-9_.~!$&'()*+,;=-";
/** RFC 3987 section 2.2, `ucschar` and `iprivate`. */
const UCS =
  "\\u{a0}-\\u{d7ff}\\u{f900}-\\u{fdcf}\\u{fdf0}-\\u{ffef}" +
  Array.from(
    { length: 14 },
    (_, plane) => `\\u{${(plane + 1).toString(16)}${plane === 13 ? "1" : "0"}000}-\\u{${(plane + 1).toString(16)}fffd}`,
  ).join("");
const PRIVATE = "\\u{e000}-\\u{f8ff}\\u{f0000}-\\u{ffffd}\\u{100000}-\\u{10fffd}";

/** RFC 3986 appendix A and RFC 3987 section 2.2; the text in brackets is left to be looked at. */
function grammar(letters: string, queryOnly: string, relative: boolean): RegExp {
  const chars = (more: string): string => `(?:[${letters}${more}${UNRESERVED}]|%[\\dA-Fa-f]{2})*`;
  const authority = `//(?:${chars(":")}@)?(?:\\[[^\\]]*\\]|${chars("")})(?::\\d*)?`;
  const path = chars(":@/");
  const tail = chars(`:@/?${queryOnly}`);
  const scheme = "[A-Za-z][A-Za-z0-9+.-]*:";
  // A relative path may not look as if it began with a scheme.
  const start = relative ? `(?:${scheme}|(?![^/?#]*:))` : scheme;
  return new RegExp(`^${start}(?:${authority}(?:/${path})?|(?!//)${path})(?:\\?${tail})?(?:#${chars(":@/?")})?$`, "u");
}

const hostOk = (text: string): boolean => {
  const literal = /^[^/?#]*\/\/[^/?#]*\[([^\]]*)\]/.exec(text)?.[1];
  return literal === undefined || ipv6(literal) || /^v[\da-f]+\.[\w.~!$&'()*+,;=:-]+$/i.test(literal);
};

const format = (letters: string, queryOnly: string, relative: boolean): ((text: string) => boolean) => {
  let regex: RegExp | undefined;
  return (text) =>
    (regex ??= grammar(letters, queryOnly, relative)).test(text) && (!text.includes("[") || hostOk(text));
};

export const uri: (text: string) => boolean = format("", "", false);
export const uriReference: (text: string) => boolean = format("", "", true);
export const iri: (text: string) => boolean = format(UCS, PRIVATE, false);
export const iriReference: (text: string) => boolean = format(UCS, PRIVATE, true);

const VARIABLE = "(?:\\w|%[\\dA-Fa-f]{2})(?:\\.?(?:\\w|%[\\dA-Fa-f]{2}))*(?::[1-9]\\d{0,3}|\\*)?";
let template: RegExp | undefined;

/** RFC 6570 section 2, with the apostrophe that its erratum 6937 allows in literals. */
export function uriTemplate(text: string): boolean {
  template ??= new RegExp(
    `^(?:[!#$&-;=?-[\\]_a-z~'${UCS}${PRIVATE}]|%[\\dA-Fa-f]{2}|\\{[+#./;?&=,!@|]?${VARIABLE}(?:,${VARIABLE})*\\})*$`,
    "u",
  );
  return template.test(text);
}
