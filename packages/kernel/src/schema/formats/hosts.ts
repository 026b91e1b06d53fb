import type { Idna } from "../types.ts";

const IPV4 = /^(?:(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(?:\.(?!$)|$)){4}$/;

/** Dotted decimal without leading zeros (RFC 2673 section 3.2). */
export const ipv4 = (text: string): boolean => IPV4.test(text);

/** RFC 4291 section 2.2, all three forms; no zone, no prefix length. */
export function ipv6(text: string): boolean {
  if (text.length > 45) return false;
  // An address at the end stands for two groups.
  const colon = text.lastIndexOf(":") + 1;
  const tail = text.slice(colon);
  const groups = tail.includes(".") && ipv4(tail) ? `${text.slice(0, colon)}0:0` : text;
  const halves = groups.split("::");
  const all = halves.flatMap((half) => (half === "" ? [] : half.split(":")));
  // `::` stands for at least one group.
  return (
    all.every((group) => /^[\da-f]{1,4}$/i.test(group)) &&
    (halves.length === 1 ? all.length === 8 : halves.length === 2 && all.length < 8)
  );
}

/** Letters, digits and inner hyphens, 63 to a label (RFC 1123 section 2.1). */
const LDH = /^(?:[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?(?:\.(?!$)|$))+$/i;
/** One label by the kinds of its characters alone, for want of the exact rules. */
const LABEL =
  /^(?!-|..--|\p{M})(?:[\p{Ll}\p{Lo}\p{Lm}\p{M}\p{Nd}\u00b7\u0375\u05f3\u05f4\u30fb-]|[\u200c\u200d]){1,63}(?<!-)$/u;

const APPROXIMATE: Idna = {
  aLabel: () => true,
  hostname: (name) =>
    name.length <= 253 && name.split(/[.\u3002\uff0e\uff61]/).every((label) => LABEL.test(label) || LDH.test(label)),
};

/** RFC 1123, with the rules of IDNA for labels that begin with `xn--`. */
export function hostname(text: string, idna: Idna = APPROXIMATE): boolean {
  return (
    text.length <= 253 &&
    LDH.test(text) &&
    (!/xn--/i.test(text) || text.split(".").every((label) => !/^xn--/i.test(label) || idna.aLabel(label)))
  );
}

/** RFC 5890 section 2.3.2.3. */
export const idnHostname = (text: string, idna: Idna = APPROXIMATE): boolean => idna.hostname(text);

const ATOM = "[\\w!#$%&'*+/=?^`{|}~\\u{80}-\\u{10ffff}-]+";
const LOCAL_PART = new RegExp(`^(?:${ATOM}(?:\\.${ATOM})*|"(?:[ !#-[\\]-~\\u{80}-\\u{10ffff}]|\\\\[ -~])*")$`, "u");

/** RFC 6531 section 3.3. */
export function idnEmail(text: string, idna?: Idna, domain: typeof hostname = idnHostname): boolean {
  const at = text.lastIndexOf("@");
  const host = text.slice(at + 1);
  // No domain is as long, and to normalize a long one can take minutes.
  if (at < 1 || at > 64 || host.length > 1_024 || !LOCAL_PART.test(text.slice(0, at))) return false;
  const address = /^\[(IPv6:)?(.*)\]$/i.exec(host);
  return address === null
    ? domain(host.normalize(), idna)
    : (address[1] === undefined ? ipv4 : ipv6)(address[2] as string);
}

/** RFC 5321 section 4.1.2, `Mailbox`. */
export const email = (text: string, idna?: Idna): boolean => !/[^ -~]/.test(text) && idnEmail(text, idna, hostname);
