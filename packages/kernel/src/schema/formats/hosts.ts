import type { Idna } from "../types.ts";

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

/** One label by the kinds of its characters alone, for want of the exact rules. */
const LABEL =
  /^(?!-|..--|\p{M})[\p{Ll}\p{Lo}\p{Lm}\p{M}\p{Nd}\u200c\u200d\u00b7\u0375\u05f3\u05f4\u30fb-]{1,63}(?<!-)$/u;

const APPROXIMATE: Idna = {
  aLabel: () => true,
  hostname: (name) =>
    name.length <= 253 && name.split(/[.\u3002\uff0e\uff61]/).every((label) => LABEL.test(label) || isLdh(label)),
};

/** RFC 1123, with the rules of IDNA for labels that begin with `xn--`. */
export function hostname(text: string, idna: Idna = APPROXIMATE): boolean {
  return (
    isLdh(text) &&
    (!/(^|\.)xn--/i.test(text) || text.split(".").every((label) => !/^xn--/i.test(label) || idna.aLabel(label)))
  );
}

/** RFC 5890 section 2.3.2.3. */
export const idnHostname = (text: string, idna: Idna = APPROXIMATE): boolean => idna.hostname(text);

const ATOM = "[\\w!#$%&'*+/=?^`{|}~\\u{80}-\\u{10ffff}-]+";
const LOCAL_PART = new RegExp(`^(?:${ATOM}(?:\\.${ATOM})*|"(?:[ !#-[\\]-~\\u{80}-\\u{10ffff}]|\\\\[ -~])*")$`, "u");

/** RFC 6531 section 3.3. */
export function idnEmail(text: string, idna?: Idna): boolean {
  const at = text.lastIndexOf("@");
  return (
    at > 0 &&
    at <= 64 &&
    LOCAL_PART.test(text.slice(0, at)) &&
    (domain(text.slice(at + 1), idna) || idnHostname(text.slice(at + 1).normalize("NFC"), idna))
  );
}

/** RFC 5321 section 4.1.2, `Mailbox`. */
export function email(text: string, idna?: Idna): boolean {
  const at = text.lastIndexOf("@");
  const local = text.slice(0, at);
  return at > 0 && at <= 64 && LOCAL_PART.test(local) && !/[^ -~]/.test(local) && domain(text.slice(at + 1), idna);
}

/** A host name, or an address in brackets. */
function domain(text: string, idna: Idna | undefined): boolean {
  const address = /^\[(IPv6:)?(.*)\]$/i.exec(text);
  return address === null ? hostname(text, idna) : (address[1] === undefined ? ipv4 : ipv6)(address[2] as string);
}
