/** The most characters of a name and of one label in DNS. */
const hostLength = 253;
const labelLength = 63;

/** The characters that IDNA takes as the dot between two labels. */
const dots = /[.\u3002\uff0e\uff61]/;

/**
 * Reads an untrusted URL; `undefined` for any other text. No other code gives untrusted text to the
 * platform's `URL`. On some platforms the time for a host grows faster than the square of its
 * length: 5,000 characters hold the thread for most of a second.
 *
 * @param base against which a relative reference is resolved
 */
export function parseUrl(text: string, base?: string): URL | undefined {
  if (!hasBoundedHost(text) || (base !== undefined && !hasBoundedHost(base))) return undefined;
  return URL.canParse(text, base) ? new URL(text, base) : undefined;
}

/** Whether a host is so short that a name server would be asked for it; a dot may be at its end. */
export function isBoundedHost(host: string): boolean {
  const name = dots.test(host.at(-1) ?? "") ? host.slice(0, -1) : host;
  if (name.length > hostLength) return false;
  return name.startsWith("[") || name.split(dots).every((label) => label.length <= labelLength);
}

/** Reads more of a text as a host than a URL parser would, never less. */
function hasBoundedHost(text: string): boolean {
  // The parser drops these, wherever they are.
  const seen = text.length > hostLength && /[\t\n\r]/.test(text) ? text.replaceAll(/[\t\n\r]/g, "") : text;
  // After a scheme that has hosts they need no slashes; without one, two slashes make one.
  const start = /^[\u0000-\u0020]*(?:(?:https?|wss?|ftp|file):[/\\]*|(?:[a-z][a-z0-9+.-]*:)?[/\\]{2,})/i.exec(
    seen,
  )?.[0];
  if (start === undefined) return true;
  const end = seen.slice(start.length).search(/[/\\?#]/);
  const authority = end < 0 ? seen.slice(start.length) : seen.slice(start.length, start.length + end);
  const host = authority.slice(authority.lastIndexOf("@") + 1);
  return isBoundedHost(host.replace(/:[0-9]{0,20}\s*$/, ""));
}
