import { parseUrl } from "../../support/parse-url.ts";
import type { Reading } from "../family.ts";
import type { Plain } from "./plain.ts";

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
  /^(?:(?:[^*]*\.)?localhost(?:\.localdomain)?|ip6-l(?:ocalhost|oopback)|127(?:\.\d+){3}|0\.0\.0\.0|\[::1?\])$/;

/** IPv6 addresses that carry an IPv4 address: mapped, compatible, translated, behind NAT64, by 6to4, Teredo or ISATAP. */
const carrier = /^\[(?:::(?!1?\]$)|64:ff9b:|2002:|2001:0?:)|:5efe:/;

/** {@link matchHost} over many patterns at once: as many look-ups as the host has labels, however many patterns there are. */
export function hostMatcher(patterns: readonly string[]): (host: string, isReached: boolean) => boolean {
  const known = new Set(patterns);
  const namesOwnMachine = patterns.some((each) => ownMachine.test(each));
  return (host, isReached) => {
    if (known.has(host)) return true;
    if (!isReached) return false;
    // A grant reaches no address: here it is forbidden, and such a one is not plain.
    if (known.has("*") || (known.size > 0 && carrier.test(host))) return true;
    if (namesOwnMachine && ownMachine.test(host)) return true;
    for (let dot = host.indexOf("."); dot >= 0; dot = host.indexOf(".", dot + 1))
      if (known.has(`*${host.slice(dot)}`)) return true;
    return false;
  };
}

/** URLs whose host is the place (URL, "special scheme"). `about:` and `file:` go nowhere, and a query of `postgres:` can name another host. */
const ofHost = /^(?:https?|wss?|ftp)$/i;

/**
 * An authority that parsers read alike: without credentials, escapes, white space and `\\`. Of the letters, IDNA 2003 makes other names than IDNA 2008 (UTS #46, 7).
 */
const ofOneHost = /^[^%@\\\s\u0000-\u0020\u007f\u00df\u1e9e\u03c2\u200c\u200d]{1,300}$/;

/** The host of an argument: bare, with a port, or in a URL whose host is the place. */
export function plainHost(text: string): Plain {
  const [, scheme = "", authority = ""] = /^(?:([a-z][a-z\d+.-]*):\/\/)?([^/?#]*)/i.exec(text) ?? [];
  // To a URL parser `http:a` is a scheme, and no host with a port.
  const isPlace = ofHost.test(scheme) || (authority === text && !/^(?:https?|wss?|ftp|file):/i.test(text));
  const url = isPlace && ofOneHost.test(authority) ? parseUrl(`${scheme || "http"}://${authority}/`) : undefined;
  if (!url) return { part: "", fault: "readers take different hosts from it, or none" };
  const host = url.hostname.replace(/\.$/, "");
  const fault = nameFault(host);
  return fault === undefined ? { key: host } : { part: host, fault };
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
  return nameFault(host);
}

/** The fault of a host that `URL` has written. */
function nameFault(host: string): string | undefined {
  if (carrier.test(host)) return "the IPv6 address carries an IPv4 address";
  return isAddress(host) || isName(host) ? undefined : "a host has no empty labels and no dot at its end";
}

/** Of a canonical host: no name ends in a number (URL, 3.5). */
function isAddress(host: string): boolean {
  return host.startsWith("[") || /^\d+(?:\.\d+){3}$/.test(host);
}

/** Whether DNS can carry a host that `URL` accepts: no empty or overlong label. */
function isName(host: string): boolean {
  return host.length <= 253 && host.split(".").every((label) => /^[a-z0-9_-]{1,63}$/.test(label));
}
