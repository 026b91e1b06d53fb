import { parseUrl } from "../normalize/parse-url.ts";
import { classifyAddress } from "./addresses.ts";

/**
 * Hosts and the patterns that grant them. A host is always in the form that `URL` gives it, without a trailing dot: lower-case ASCII, IPv4 as
 * four decimal numbers, IPv6 in brackets. A pattern is such a host, `*.example.com` (any name below it, not itself) or `*` (any public name).
 * Wildcards never reach a host that is not public: it has to be granted by its exact name.
 */

/**
 * Names that no public DNS serves, or that point into the network of whoever asks (RFC 6761, 6762 with appendix G, 7050, 7686, 8375, 9476, ICANN); then
 * public ones that resolve to the address which they spell, to loopback, or to a cloud's metadata.
 */
const privateSuffixes = [
  "localhost",
  "local",
  "internal",
  "localdomain",
  "arpa",
  "test",
  "invalid",
  "onion",
  "alt",
  "lan",
  "home",
  "corp",
  "intranet",
  "private",
  "mail",
  "workgroup",
  "i2p",
  "exit",
  "consul",
  "docker",
  "nip.io",
  "sslip.io",
  "xip.io",
  "localtest.me",
  "lvh.me",
  "vcap.me",
  "lacolhost.com",
  "traefik.me",
  "local.gd",
  "localho.st",
  "rbndr.us",
  "1u.ms",
  "metadata.goog",
  "metadata.tencentyun.com",
  "metadata.packet.net",
  "metadata.platformequinix.com",
] as const;

/** Why a host is not an ordinary host of the public internet, as the end of a sentence. `undefined` for one that is. */
export function checkHost(host: string): string | undefined {
  const address = classifyAddress(host);
  if (address) return address.special ? `is an IP address: ${address.special}` : "is an IP address";
  if (!isName(host)) return "is not a host name in canonical form";
  const suffix = privateSuffixes.find((each) => host === each || host.endsWith(`.${each}`));
  if (suffix) return `is a name under .${suffix}, which is not public`;
  return host.includes(".") ? undefined : "is a name without a dot, which only a local network knows";
}

/** Whether a pattern grants a host. Both are canonical. */
export function matchHost(pattern: string, host: string): boolean {
  if (pattern === host) return true;
  if (!pattern.startsWith("*") || checkHost(host) !== undefined) return false;
  return pattern === "*" || host.endsWith(pattern.slice(1));
}

/** {@link matchHost} over many patterns at once: as many look-ups as the host has labels, however many patterns there are. */
export function hostMatcher(patterns: readonly string[]): (host: string) => boolean {
  const known = new Set(patterns);
  const hasWildcard = patterns.some((pattern) => pattern.startsWith("*"));
  return (host) => {
    if (known.has(host)) return true;
    if (!hasWildcard || checkHost(host) !== undefined) return false;
    if (known.has("*")) return true;
    for (let dot = host.indexOf("."); dot >= 0; dot = host.indexOf(".", dot + 1))
      if (known.has(`*${host.slice(dot)}`)) return true;
    return false;
  };
}

/** The canonical host of a URL, or of a bare host as people and models write it. `undefined` where there is none, or where it is dressed up by credentials. */
export function hostOf(text: string): string | undefined {
  // What URL parsers read differently: white space, control characters, backslashes.
  if (/[\u0000-\u0020\u007f\\]/.test(text)) return undefined;
  const isUrl = text.includes("://");
  if (!isUrl && /[/?#]/.test(text)) return undefined;
  const address = isUrl ? text : `http://${text}/`;
  const url = parseUrl(address);
  if (url === undefined) return undefined;
  const { hostname, username, password } = url;
  const host = hostname.endsWith(".") ? hostname.slice(0, -1) : hostname;
  return username === "" && password === "" && canonicalFault(host) === undefined ? host : undefined;
}

/** What is wrong with a host pattern, as the end of a sentence. */
export function checkHostPattern(pattern: string): string | undefined {
  if (pattern === "*") return undefined;
  if (pattern.startsWith("*.")) {
    const suffix = pattern.slice(2);
    const reason = canonicalFault(suffix);
    if (reason) return reason;
    if (classifyAddress(suffix)) return "an address has no names below it";
    const isPrivate = privateSuffixes.some((each) => suffix === each || suffix.endsWith(`.${each}`));
    return isPrivate ? "a wildcard does not reach names that are not public; grant each by its exact name" : undefined;
  }
  return canonicalFault(pattern);
}

function canonicalFault(host: string): string | undefined {
  if (host.includes("*")) return "`*` stands alone or as the whole first label";
  const hostname = parseUrl(`http://${host}/`)?.hostname;
  if (hostname === undefined) return "it is not a host";
  if (hostname !== host)
    return `the host in canonical form is ${JSON.stringify(hostname)}; scheme, port and path have their own places`;
  return classifyAddress(host) || isName(host) ? undefined : "a host has no empty labels and no dot at its end";
}

/** What `URL` lets through and DNS does not carry is no name: empty or overlong labels. */
function isName(host: string): boolean {
  return host.length <= 253 && host.split(".").every((label) => /^[a-z0-9_-]{1,63}$/.test(label));
}
