import { parseUrl } from "../../support/parse-url.ts";
import { trimBlanks } from "../../support/trim.ts";

/** A scheme with slashes, or one that has a host without them. */
const hierarchical = /^(?:[a-z][a-z0-9+.-]*:[/\\]|(?:https?|wss?|ftp|file):)/i;
const withScheme = /^[a-z][a-z0-9+.-]*:/i;
/** The beginning of a path, which readers resolve against a URL. */
const pathLike = /^\.{0,2}[/\\]/;
/** Characters that parsers drop anywhere in a URL. */
const anywhere = /[\t\n\r]/g;
/** Decodings of decodings in an honest text. */
const mostRounds = 8;

/** A segment that a reader of paths removes, and the other slash. */
const steps = /[/\\]\.{0,2}[/\\]|^\.{1,2}[/\\]|[/\\]\.{1,2}$|\\/;

/** Segments that stand for other ones. */
const dots = /(?:^|[/\\])(?:\.|%2e){1,2}(?:[/\\]|$)/i;

/** The cost of {@link placeReadings} in UTF-16 units. A text without such segments costs nothing. */
export function placeWork(text: string): number {
  return steps.test(text) || dots.test(text) || text.includes("\0") ? text.length : 0;
}

/** Whether a text can have {@link placeReadings}. */
export function hasPlaceReadings(text: string): boolean {
  const plain = trimBlanks(text);
  return (
    /[\0\t\n\r]/.test(text) ||
    steps.test(text) ||
    withScheme.test(plain) ||
    (pathLike.test(plain) && text.includes("#"))
  );
}

/**
 * The readings of a text as a URL or a path: without dropped characters, credentials and fragment,
 * with resolved dots and decoded escapes, up to a NUL. `undefined` beyond the number of an honest text.
 */
export function placeReadings(text: string): readonly string[] | undefined {
  const found = new Set<string>();
  let rounds = 0;
  let reading = trimBlanks(text.replace(anywhere, ""));
  for (;;) {
    if (++rounds > mostRounds) return undefined;
    // No request has the fragment.
    const isPlace = pathLike.test(reading) || hierarchical.test(reading);
    const texts = reading.includes("\0") ? [reading, reading.replace(/\0.*/s, "")] : [reading];
    for (const each of isPlace ? texts.flatMap((one) => [one, one.replace(/#.*/s, "")]) : texts) {
      found.add(each);
      if (!steps.test(each)) continue;
      found.add(resolvedPath(each, /\/+/g));
      found.add(resolvedPath(each, /[/\\]+/g));
    }
    if (!withScheme.test(reading)) break;
    const resolved = hierarchical.test(reading) ? resolvedUrl(reading) : reading;
    found.add(resolved);
    const next = decoded(resolved);
    if (next === reading) break;
    reading = next;
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

/** @param slashes of the system: on Windows, backslashes too */
function resolvedPath(text: string, slashes: RegExp): string {
  const plain = text.replace(slashes, "/");
  if (!dots.test(plain)) return plain;
  const [first = "", ...segments] = plain.split("/");
  const kept = first === "." ? [] : [first];
  for (const segment of segments) {
    const last = kept.at(-1);
    if (segment === "..") {
      if (last === undefined || last === "..") kept.push("..");
      // No folder is above the root.
      else if (kept.length > 1 || last !== "") kept.pop();
    } else if (segment !== "." && segment !== "") kept.push(segment);
  }
  const isFolder = kept.length > 0 && /\/\.{0,2}$/.test(plain);
  return `${kept.join("/")}${isFolder ? "/" : ""}`;
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
