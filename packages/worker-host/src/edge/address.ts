import { parseUrl } from "@keyhole/kernel";

/** Where an edge is and how to be let in. */
export interface EdgeSettings {
  /** Origin, such as `http://127.0.0.1:8701`. */
  readonly address: string;
  readonly token: string;
}

/**
 * The origin of what a person typed. Plain http is for this machine alone: on the way to another one, anybody could read the token and
 * change the answers.
 */
export function readAddress(typed: string): string | undefined {
  const text = typed.trim();
  if (text === "") return undefined;
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(text)) return originOf(text);
  return originOf(`http://${text}`) ?? originOf(`https://${text}`);
}

function originOf(url: string): string | undefined {
  const parsed = parseUrl(url);
  if (parsed === undefined) return undefined;
  const { protocol, hostname, origin } = parsed;
  return protocol === "https:" || (protocol === "http:" && isLoopback(hostname)) ? origin : undefined;
}

/** A URL has only one spelling of an IP address. */
export function isLoopback(hostname: string): boolean {
  return /^(?:(?:[^.]+\.)*localhost|127(?:\.\d+){3}|\[::1\])$/.test(hostname);
}
