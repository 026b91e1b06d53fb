import { parseUrl } from "../../support/parse-url.ts";

/** Where the parser of URLs goes by more than the letters: a scheme with slashes, or one that has a host without them. */
const hierarchical = /^(?:[a-z][a-z0-9+.-]*:[/\\]|(?:https?|wss?|ftp|file):)/i;
const withScheme = /^[a-z][a-z0-9+.-]*:/i;
/** Dropped by parsers: around a URL, and anywhere in it. */
const around = /^[\u0000-\u0020]+|[\u0000-\u0020]+$/g;
const anywhere = /[\t\n\r]/g;
/** Nested decodings. No honest text has more. */
const mostReadings = 8;

/** Whether a text can have {@link urlReadings}. */
export function hasUrlReadings(text: string): boolean {
  return /[\t\n\r]/.test(text) || withScheme.test(text.replace(around, ""));
}

/**
 * The readings of a text by parsers of URLs: without dropped characters, with dots resolved,
 * without credentials, with escapes decoded. `undefined` where it has more readings than an honest
 * text.
 */
export function urlReadings(text: string): readonly string[] | undefined {
  const found = new Set<string>();
  let reading = text.replace(anywhere, "").replace(around, "");
  while (!found.has(reading)) {
    if (found.size >= mostReadings) return undefined;
    found.add(reading);
    if (!withScheme.test(reading)) break;
    const resolved = hierarchical.test(reading) ? resolvedUrl(reading) : reading;
    found.add(resolved);
    reading = decoded(resolved);
  }
  found.delete(text);
  return [...found];
}

function resolvedUrl(text: string): string {
  const url = parseUrl(text);
  if (!url) return text;
  const { protocol, hostname, port, pathname, search, hash } = url;
  return `${protocol}//${hostname.replace(/\.$/, "")}${port && ":"}${port}${pathname}${search}${hash}`;
}

function decoded(text: string): string {
  return text.replace(/(?:%[0-9a-f]{2})+/gi, (run) => {
    try {
      return decodeURIComponent(run);
    } catch {
      return run.replace(/%[0-7][0-9a-f]/gi, decodeURIComponent);
    }
  });
}
