import { ipv6 } from "./hosts.ts";

const PERCENT = "%[\\dA-Fa-f]{2}";
const UNRESERVED = "A-Za-z0-9_.~!$&'()*+,;=-";
/** RFC 3987 section 2.2, `ucschar`: what is neither private, nor half of a pair, nor a special or no character at all. */
const UCS = "|(?![\\p{Co}\\p{Cs}\\p{NChar}\\u{fff0}-\\u{fffd}\\u{e0000}-\\u{e0fff}])[\\u{a0}-\\u{10ffff}]";
/** `iprivate`. */
const PRIVATE = "\\p{Co}";

/** RFC 3986 appendix A and RFC 3987 section 2.2; the text in brackets is left to be looked at. */
function grammar(letters: string, queryOnly: string, relative: boolean): RegExp {
  const chars = (more: string): string => `(?:[${more}${UNRESERVED}]|${PERCENT}${letters})*`;
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

const VARIABLE = `(?:\\w|${PERCENT})(?:\\.?(?:\\w|${PERCENT}))*(?::[1-9]\\d{0,3}|\\*)?`;
let template: RegExp | undefined;

/** RFC 6570 section 2, with the apostrophe that its erratum 6937 allows in literals. */
export function uriTemplate(text: string): boolean {
  template ??= new RegExp(
    `^(?:[!#$&-;=?-[\\]_a-z~'${PRIVATE}]|${PERCENT}${UCS}|\\{[+#./;?&=,!@|]?${VARIABLE}(?:,${VARIABLE})*\\})*$`,
    "u",
  );
  return template.test(text);
}
