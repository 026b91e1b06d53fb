import { parseUrl } from "../../support/parse-url.ts";
import type { Reading } from "../family.ts";

/**
 * Hosts and the patterns that name them. A host is always in the form that `URL` gives it, without a trailing dot: lower-case ASCII, IPv4 as four
 * decimal numbers, IPv6 in brackets. A pattern is such a host, `*.example.com` (every name below it, not itself) or `*`.
 *
 * Grants and denies read a wildcard differently. In a deny it matches every host. In a grant it
 * matches names of the public internet alone: the broker that asks for them knows which those are.
 */

/**
 * Names that no public DNS serves, or that point into the local network (RFC 6761, 6762 with
 * appendix G, 8375, ICANN). The broker's list is longer; this minimum holds for every broker.
 */
const ownNetwork = /(?:^|\.)(?:local(?:host|domain)?|internal|arpa|lan)$/;

/** Whether a host can be public at all: a name with a dot that belongs to no network's own. An address never is. */
export function canBePublic(host: string): boolean {
  return isName(host) && /\.[^.]*[^.\d][^.]*$/.test(host) && !ownNetwork.test(host);
}

/** Whether a wildcard that grants reaches the host of a request. */
export function isReached({ host, isPublic }: { readonly host: string; readonly isPublic?: boolean }): boolean {
  return isPublic === true && canBePublic(host);
}

/** Whether a pattern names a host; a wildcard does only where `isReached`. Both are canonical. */
export function matchHost(pattern: string, host: string, isReached: boolean): boolean {
  return (
    pattern === host ||
    (isReached && (pattern === "*" || (pattern.startsWith("*.") && host.endsWith(pattern.slice(1)))))
  );
}

/** Whether a capability's patterns cover the host of a request. A declaration's `*` wishes for any host. */
export function coversHost(
  patterns: readonly string[],
  need: { readonly host: string; readonly isPublic?: boolean },
  reading: Reading,
): boolean {
  const isWithin = isReached(need);
  return patterns.some((pattern) => (reading === "wish" && pattern === "*") || matchHost(pattern, need.host, isWithin));
}

/** Names and addresses that lead to the machine that asks (RFC 6761, 6.3; RFC 1122, 3.2.1.3). Linux connects the unspecified address so. */
const ownMachine =
  /^(?:(?:[^*]*\.)?localhost(?:\.localdomain)?|ip6-l(?:ocalhost|oopback)|127(?:\.\d+){3}|0\.0\.0\.0|\[::1\])$/;

function isOwnMachine(host: string): boolean {
  return ownMachine.test(host) || carriedAddresses(host).some((each) => ownMachine.test(each));
}

/** {@link matchHost} over many patterns at once: as many look-ups as the host has labels, however many patterns there are. */
export function hostMatcher(patterns: readonly string[]): (host: string, isReached: boolean) => boolean {
  const known = new Set(patterns);
  const carried = new Set(patterns.flatMap(carriedAddresses));
  const namesOwnMachine = patterns.some(isOwnMachine);
  return (host, isReached) => {
    if (known.has(host)) return true;
    if (!isReached) return false;
    if (known.has("*") || carried.has(host)) return true;
    // A grant reaches no address: here it is forbidden, in each of its forms.
    if (carriedAddresses(host).some((each) => known.has(each) || carried.has(each))) return true;
    if (namesOwnMachine && isOwnMachine(host)) return true;
    for (let dot = host.indexOf("."); dot >= 0; dot = host.indexOf(".", dot + 1))
      if (known.has(`*${host.slice(dot)}`)) return true;
    return false;
  };
}

/**
 * Characters of an authority that parsers read differently. Of the letters, IDNA 2003 makes other names than IDNA 2008 (UTS #46, 7). A percent sign is decoded by some and part of the name
 * for others.
 */
const ambiguous = /[%\u00df\u1e9e\u03c2\u200c\u200d]/;

/** The canonical host of a URL, or of a bare host as people and models write it. `undefined` where there is none, or where it is dressed up by credentials. */
export function hostOf(text: string): string | undefined {
  // Characters that URL parsers read differently: white space, control characters, backslashes.
  if (/[\u0000-\u0020\u007f\\]/.test(text)) return undefined;
  const isUrl = text.includes("://");
  // To a URL parser that is a scheme, and no host with a port.
  if (!isUrl && /^(?:https?|wss?|ftp|file):/i.test(text)) return undefined;
  if (!isUrl && /[/?#]/.test(text)) return undefined;
  if (ambiguous.test(/^(?:[a-z][a-z\d+.-]*:\/*)?([^/?#]*)/i.exec(text)?.[1] ?? "")) return undefined;
  const address = isUrl ? text : `http://${text}/`;
  const url = parseUrl(address);
  if (url === undefined) return undefined;
  const { hostname, username, password } = url;
  const host = hostname.endsWith(".") ? hostname.slice(0, -1) : hostname;
  return username === "" && password === "" && canonicalFault(host) === undefined ? host : undefined;
}

/** The fault of a host pattern, as the end of a sentence. */
export function checkHostPattern(pattern: string): string | undefined {
  if (pattern === "*") return undefined;
  if (pattern.startsWith("*.")) {
    const suffix = pattern.slice(2);
    return canonicalFault(suffix) ?? (isAddress(suffix) ? "an address has no names below it" : undefined);
  }
  return canonicalFault(pattern);
}

/** {@link checkHostPattern} for what grants: there a wildcard could never reach a network's own names. */
export function checkGrantedHost(pattern: string): string | undefined {
  return (
    checkHostPattern(pattern) ??
    (pattern.startsWith("*.") && ownNetwork.test(pattern) ? "no wildcard grants names that are not public" : undefined)
  );
}

function canonicalFault(host: string): string | undefined {
  if (host.includes("*")) return "`*` stands alone or as the whole first label";
  const hostname = parseUrl(`http://${host}/`)?.hostname;
  if (hostname === undefined) return "it is not a host";
  if (hostname !== host)
    return `the host in canonical form is ${JSON.stringify(hostname)}; scheme, port and path have their own places`;
  return isAddress(host) || isName(host) ? undefined : "a host has no empty labels and no dot at its end";
}

/** The IPv4 addresses that an IPv6 address can stand for: mapped, compatible, translated, behind NAT64, by 6to4, by ISATAP. */
export function carriedAddresses(host: string): readonly string[] {
  if (!host.startsWith("[")) return [];
  const [head = "", tail] = host.slice(1, -1).split("::");
  const groupsOf = (text: string): number[] =>
    text === "" ? [] : text.split(":").map((each) => Number.parseInt(each, 16));
  const [before, after] = [groupsOf(head), groupsOf(tail ?? "")];
  const groups = [...before, ...Array<number>(8 - before.length - after.length).fill(0), ...after];
  const dotted = (high: number, low: number): string => [high >> 8, high & 255, low >> 8, low & 255].join(".");
  const [first = 0, second = 0, third = 0, , fifth = 0, sixth = 0, seventh = 0, eighth = 0] = groups;
  const isPlain =
    groups.slice(0, 4).every((each) => each === 0) && [fifth, sixth].every((each) => each === 0 || each === 0xffff);
  const isTranslated = first === 0x64 && second === 0xff9b;
  return [
    ...(isPlain || isTranslated || sixth === 0x5efe ? [dotted(seventh, eighth)] : []),
    ...(first === 0x2002 ? [dotted(second, third)] : []),
  ];
}

/** Of a canonical host: no name ends in a number (URL, 3.5). */
function isAddress(host: string): boolean {
  return host.startsWith("[") || /^\d+(?:\.\d+){3}$/.test(host);
}

/** Whether DNS can carry a host that `URL` accepts: no empty or overlong label. */
function isName(host: string): boolean {
  return host.length <= 253 && host.split(".").every((label) => /^[a-z0-9_-]{1,63}$/.test(label));
}
