import { isBoundedHost, parseUrl, trimBlanks } from "@keyhole/kernel";
import { unicodeOf } from "./punycode.ts";

/*
 * Engines do not read all URLs alike: a host with a space, a label that no name has, a drive, a host of a file. A tool in the interpreter sees the same on every engine: what they
 * read in different ways is no URL to it, and what they only write in different ways has one form.
 */

const parts = [
  "href",
  "origin",
  "protocol",
  "username",
  "password",
  "host",
  "hostname",
  "port",
  "pathname",
  "search",
  "hash",
] as const;
type Part = (typeof parts)[number];

/** Schemes whose hosts are names or addresses. */
const named: ReadonlySet<string> = new Set(["http:", "https:", "ws:", "wss:", "ftp:"]);
/** The parts that a setter can change in a URL of another scheme. */
const behind: ReadonlySet<string> = new Set(["pathname", "search", "hash"] satisfies Part[]);

/** The parts of a URL as JSON; `undefined` where it is none. */
export function readUrl(text: string, base: string | undefined): string | undefined {
  const url = parseUrl(text, base);
  if (url === undefined) return undefined;
  if (named.has(url.protocol)) return isNamed(url) ? partsOf(url) : undefined;
  const plain = encoded(text);
  const other = parseUrl(plain, base === undefined ? undefined : encoded(base));
  return other && isOther(other, plain) ? partsOf(other) : undefined;
}

/**
 * The parts of a URL, one of which was set. A setter leaves the URL as it is where it can make nothing of what it is given.
 *
 * @throws TypeError for a text that is no URL
 */
export function changeUrl(href: string, part: string, value: string): string {
  const url = parseUrl(href);
  const changed = parseUrl(href);
  if (!url || !changed) throw new TypeError("Invalid URL");
  if (!isPart(part) || part === "href" || part === "origin") return partsOf(url);
  const isHost = part === "host" || part === "hostname";
  if (isHost && !isBoundedHost(value.split(/[/\\?#]/, 1)[0]!.replace(/:[0-9]{0,20}$/, ""))) return partsOf(url);
  const isNameful = named.has(url.protocol);
  if (!isNameful && !behind.has(part)) return partsOf(url);
  changed[part] = isNameful ? value : encodedFor(part, value);
  const isSame = isNameful ? named.has(changed.protocol) && isNamed(changed) : isOther(changed, changed.href);
  return partsOf(isSame ? changed : url);
}

function isPart(name: string): name is Part {
  return (parts as readonly string[]).includes(name);
}

function isNamed({ hostname }: URL): boolean {
  return hostname.startsWith("[") || (/^[a-z0-9._-]*$/.test(hostname) && hostname.split(".").every(isLabel));
}

/** A label that stands for others must be what an engine makes of those: some take it as it is. */
function isLabel(label: string): boolean {
  if (!label.startsWith("xn--")) return true;
  const unicode = unicodeOf(label.slice(4));
  return unicode !== undefined && parseUrl(`http://${unicode}/`)?.hostname === label;
}

/**
 * Whether every engine reads the URL alike. Engines differ where one changed the URL elsewhere than
 * in its dots, and at encoded hosts, hosts of files, and drives.
 */
function isOther({ protocol, href, host, pathname }: URL, text: string): boolean {
  if (encoded(href) !== href || host.includes("%")) return false;
  if (protocol === "file:" && (host !== "" || pathname.startsWith("//") || isDrive.test(pathname))) return false;
  if (!/^[a-z][a-z0-9+.-]*:/i.test(text)) return !text.startsWith("//") && !isDrive.test(`/${text}`);
  // Behind a host some add the slash that is missing.
  return href === text.replace(/^[^:]*/, (scheme) => scheme.toLowerCase()) && !/^[^:]*:\/\/[^/]*[?#]/.test(text);
}

const isDrive = /\/[a-z](?::|%7c)(?:[/?#]|$)/i;

/** Keeps the characters that a URL can hold, and percent-encodes the rest as UTF-8. Trims the ends and drops line breaks, as a parser of URLs does. */
function encoded(text: string): string {
  const seen = trimBlanks(text).replaceAll(/[\t\n\r]/g, "");
  return seen.replaceAll(/[^\w\-.~:/?#[\]@!$&()*+,;=%]/gu, (sign) =>
    sign === "'" ? "%27" : encodeURIComponent(sign.toWellFormed()),
  );
}

/** Encodes the characters too that would end the part. */
function encodedFor(part: Part, value: string): string {
  const text = encoded(value);
  if (part === "hash") return text;
  return (part === "search" ? text : text.replaceAll("?", "%3F")).replaceAll("#", "%23");
}

/** Some engines encode these in some parts. */
function partsOf(url: URL): string {
  for (const part of ["username", "password"] as const)
    if (url[part].includes("'")) url[part] = url[part].replaceAll("'", "%27");
  const written = (part: Part): string => url[part].replaceAll("|", "%7C").replaceAll("^", "%5E");
  return JSON.stringify(Object.fromEntries(parts.map((part) => [part, written(part)])));
}
