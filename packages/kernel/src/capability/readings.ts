import { foldLetters } from "../support/fold.ts";

/**
 * Paths of the network as servers read them. No two servers agree on what a path means: they decode it once, twice or not at all, before or
 * after they resolve its dots. A path therefore has a set of readings. A grant covers it where all of them lie within; a deny meets it where one
 * does.
 */

/** A path with more readings than this, or longer, is nobody's honest request. */
const mostReadings = 256;
const longest = 2_048;

/** A segment that servers take for a step up or for nothing. */
const dotSegment = /\/\.\.?(?:\/|$)/;

/** What some server does to a path, each on its own; servers differ in which of them they take, in which order and how often. */
const steps: readonly ((path: string) => string)[] = [
  // Throws for what is no UTF-8: overlong forms hide dots and slashes from one decoder and show them to another.
  (path) =>
    path
      .replace(/%u([0-9a-f]{4})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
      .replace(/(?:%[0-9a-f]{2})+/gi, decodeURIComponent),
  (path) => path.replaceAll("\\", "/"),
  // Parameters (RFC 3986, 3.3), and streams of a Windows file.
  (path) => path.replace(/[;:][^/]*/g, ""),
  // Whatever decodes a path and parses it again finds a query in it.
  (path) => path.replace(/[?#].*/s, ""),
  (path) => path.replace(/\/{2,}/g, "/"),
  // Windows drops dots and spaces at the end of a name; others trim.
  (path) =>
    path
      .replace(/\/ +/g, "/")
      .replace(/\/(\.\.?)[. ]* [. ]*(?=\/|$)/g, "/$1")
      .replace(/([^/. ])[. ]+(?=\/|$)/g, "$1"),
  resolveDots,
];

function resolveDots(path: string): string {
  const segments: string[] = [];
  for (const segment of path.split("/"))
    if (segment === "..") segments.splice(Math.max(segments.length - 1, 1));
    else if (segment !== ".") segments.push(segment);
  return segments.join("/");
}

/** All places that servers could take a path for, in one case. `undefined` where there is no telling. */
function readingsOf(path: string): ReadonlySet<string> | undefined {
  const readings = new Set([foldLetters(path)]);
  // A set is walked with what is added to it on the way.
  for (const reading of readings) {
    if (readings.size > mostReadings || reading.length > longest || /[\u0000-\u001f\u007f]/.test(reading))
      return undefined;
    try {
      for (const step of steps) readings.add(foldLetters(step(reading)));
    } catch {
      return undefined;
    }
  }
  return readings;
}

function liesUnder(prefix: string, path: string): boolean {
  return path === prefix || path.startsWith(prefix.endsWith("/") ? prefix : `${prefix}/`);
}

/** What is wrong with a prefix of paths, as the end of a sentence. Paths of files are globs, those of the network are prefixes. */
export function checkPathPrefix(path: string): string | undefined {
  if (!path.startsWith("/")) return "a path prefix starts with /";
  if (/[*?#{}[\]]/.test(path)) return "a path prefix has no wildcards";
  const readings = readingsOf(path);
  return !readings || [...readings].some((each) => dotSegment.test(each)) ? "servers differ on it" : undefined;
}

/** Whether a prefix grants a path: `/a` does `/a` and `/a/b`, not `/ab`. Only `/` grants what can be read in two ways. */
export function isPathPrefix(prefix: string, path: string): boolean {
  if (prefix === "/") return true;
  if (!liesUnder(prefix, path)) return false;
  const prefixes = readingsOf(prefix);
  const readings = readingsOf(path);
  if (!prefixes || !readings) return false;
  const depth = path.split("/").length;
  return [...readings].every(
    (reading) =>
      reading.split("/").length <= depth &&
      !dotSegment.test(reading) &&
      [...prefixes].some((each) => liesUnder(each, reading)),
  );
}

/** Whether a request for a path could reach what lies under one of some prefixes. For what forbids. */
export function pathToucher(prefixes: readonly string[]): (path: string) => boolean {
  const forbidden = prefixes
    .flatMap((prefix) => [...(readingsOf(prefix) ?? ["/"])])
    .map((each) => each.replace(/\/$/, ""));
  return (path) => {
    if (forbidden.length === 0) return false;
    const readings = readingsOf(path);
    return !readings || [...readings].some((reading) => forbidden.some((each) => liesUnder(each, reading)));
  };
}
