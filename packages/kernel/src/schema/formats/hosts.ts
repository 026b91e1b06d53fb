import { isALabel, isULabel, labelLength } from "./idna.ts";

const IPV4 = /^(?:(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)\.){3}(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)$/;

/** Dotted decimal without leading zeros (RFC 2673 section 3.2). */
export const ipv4 = (text: string): boolean => IPV4.test(text);

/** RFC 4291 section 2.2, all three forms; no zone, no prefix length. */
export function ipv6(text: string): boolean {
  if (text.length > 45) return false;
  const halves = text.split("::");
  if (halves.length > 2) return false;
  let groups = 0;
  for (const [index, half] of halves.entries()) {
    if (half === "") continue;
    const parts = half.split(":");
    for (const [position, part] of parts.entries()) {
      const last = index === halves.length - 1 && position === parts.length - 1;
      if (/^[\da-fA-F]{1,4}$/.test(part)) groups++;
      else if (last && ipv4(part)) groups += 2;
      else return false;
    }
  }
  // `::` stands for at least one group.
  return halves.length === 2 ? groups <= 7 : groups === 8;
}

/** Letters, digits and inner hyphens, 63 to a label, 253 in all (RFC 1123 section 2.1). */
function isLdh(text: string): boolean {
  const { length } = text;
  if (length === 0 || length > 253) return false;
  let size = 0;
  let hyphen = true;
  for (let index = 0; index < length; index++) {
    const unit = text.charCodeAt(index);
    if ((unit >= 97 && unit <= 122) || (unit >= 48 && unit <= 57) || (unit >= 65 && unit <= 90)) {
      hyphen = false;
      size++;
    } else if (unit === 45) {
      if (size === 0) return false;
      hyphen = true;
      size++;
    } else if (unit === 46) {
      if (hyphen) return false;
      size = 0;
      hyphen = true;
    } else return false;
    if (size > 63) return false;
  }
  return !hyphen;
}

/** RFC 1123, with A-labels held to RFC 5891. */
export function hostname(text: string): boolean {
  return isLdh(text) && (!/xn--/i.test(text) || text.split(".").every((label) => !/^xn--/i.test(label) || isALabel(label)));
}

/** RFC 5890 to 5893: A-labels and U-labels, whole names under the Bidi rule. */
export function idnHostname(text: string): boolean {
  const labels = text.split(/[.。．｡]/);
  const domain = labels.join(".");
  let length = labels.length - 1;
  for (const label of labels) {
    const size = labelLength(label);
    if (size === 0 || size > 63) return false;
    length += size;
  }
  if (length > 253) return false;
  return labels.every((label) => (isLdh(label) && !/^..--/.test(label) && !isBidi(domain)) || (/^xn--/i.test(label) ? isALabel(label) : isULabel(label, domain)));
}

const isBidi = (domain: string): boolean => /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u.test(domain);

const DOT_ATOM = /^[\w!#$%&'*+/=?^`{|}~-]+(?:\.[\w!#$%&'*+/=?^`{|}~-]+)*$/;
const IDN_DOT_ATOM = /^[\w!#$%&'*+/=?^`{|}~\u{80}-\u{10ffff}-]+(?:\.[\w!#$%&'*+/=?^`{|}~\u{80}-\u{10ffff}-]+)*$/u;
const QUOTED = /^"(?:[ !#-[\]-~]|\\[ -~])*"$/;
const IDN_QUOTED = /^"(?:[ !#-[\]-~\u{80}-\u{10ffff}]|\\[ -~])*"$/u;

/** RFC 5321 section 4.1.2, `Mailbox`; RFC 6531 section 3.3 when `idn`. */
function mailbox(text: string, idn: boolean): boolean {
  const at = text.lastIndexOf("@");
  const local = text.slice(0, at);
  if (at < 1 || at > 64 || !(local[0] === '"' ? (idn ? IDN_QUOTED : QUOTED) : idn ? IDN_DOT_ATOM : DOT_ATOM).test(local)) return false;
  const domain = text.slice(at + 1);
  if (domain[0] === "[" && domain.endsWith("]")) {
    const address = domain.slice(1, -1);
    return /^IPv6:/i.test(address) ? ipv6(address.slice(5)) : ipv4(address);
  }
  return idn ? idnHostname(domain.normalize("NFC")) : hostname(domain);
}

export const email = (text: string): boolean => mailbox(text, false);
export const idnEmail = (text: string): boolean => mailbox(text, true);
