import { foldLetters } from "../../support/fold.ts";
import { ForbiddenPaths } from "./forbidden-paths.ts";
import { PathTree, type Segments } from "./path-tree.ts";
import { PathWork } from "./path-work.ts";
import { type Route, routesOf } from "./url-routes.ts";

/**
 * Paths of the network as servers read them. No two servers agree on what a path means: they decode it once, twice or not at all, before or
 * after they resolve its dots. A path therefore has a set of readings. A grant covers it where all of them lie within; a deny meets it where one
 * does.
 */

/** No honest request has a longer path. */
const longest = 2_048;
/** Characters that are read for the path of one request, over all its readings and what routers make of them. An honest path takes a tenth of it. */
const requestWork = 32_768;
/** Readings of its own length that a prefix may have. */
const prefixReadings = 12;
/** The cost of a reading beside its characters. */
const readingWork = 16;

/** A segment that servers take for a step up or for nothing. */
const dotSegment = /\/\.\.?(?:\/|$)/;

/** Rewritings of a path, each by some server. Servers differ in their choice, order and number. */
const steps: readonly ((path: string) => string)[] = [
  // Throws for what is no UTF-8: overlong forms hide dots and slashes from one decoder and show them to another.
  (path) =>
    path
      .replace(/%u([0-9a-f]{4})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
      .replace(/(?:%[0-9a-f]{2})+/gi, decodeURIComponent),
  (path) => path.replaceAll("\\", "/"),
  // As in a form: S3 reads a key so.
  (path) => path.replaceAll("+", " "),
  // Sessions in a path (ASP.NET), which go with the slash before them.
  (path) => path.replace(/\/\((?:[a-z]\([^()/]*\))+\)/g, ""),
  // Parameters (RFC 3986, 3.3), and streams of a Windows file.
  (path) => path.replace(/[;:][^/]*/g, ""),
  // A program that decodes a path and parses it again finds a query in it.
  (path) => path.replace(/[?#].*/s, ""),
  (path) => path.replace(/\/{2,}/g, "/"),
  // Windows drops dots and spaces at the end of a name; others trim.
  (path) =>
    path
      .replace(/\/ +/g, "/")
      .replace(/\/(\.\.?)([. ]+)(?=\/|$)/g, (all, dots: string, end: string) => (end.includes(" ") ? `/${dots}` : all))
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

/** Spaces for those who trim, which no form of Unicode takes for one. */
const otherSpaces = /[\u1680\u2028\u2029\u2800]/g;

function folded(path: string): string {
  return foldLetters(path).replace(otherSpaces, " ");
}

/** All places that servers could take a path for, in one case. `undefined` where there is no telling, or it takes more work than is left. */
function readingsOf(path: string, work: PathWork): readonly string[] | undefined {
  const readings = new Set([folded(path)]);
  // A loop over a set also visits the elements that it adds.
  for (const reading of readings) {
    if (!work.take(reading.length + readingWork) || reading.length > longest) return undefined;
    if (/[\u0000-\u001f\u007f-\u009f]/.test(reading)) return undefined;
    try {
      for (const step of steps) readings.add(folded(step(reading)));
    } catch {
      return undefined;
    }
  }
  return [...readings];
}

/** A prefix is a part of a document, of which there may be many: its work grows with its length alone. */
function readingsOfPrefix(prefix: string): readonly string[] | undefined {
  return readingsOf(prefix, new PathWork(prefixReadings * (prefix.length + readingWork)));
}

/**
 * The fault of a prefix of paths, as the end of a sentence. Paths of files are globs, paths of the
 * network are prefixes.
 */
export function checkPathPrefix(path: string): string | undefined {
  if (!path.startsWith("/")) return "a path prefix starts with /";
  if (/[*?#{}[\]]/.test(path)) return "a path prefix has no wildcards";
  const readings = readingsOfPrefix(path);
  return !readings || readings.some((each) => dotSegment.test(each)) ? "servers differ on it" : undefined;
}

/** The path of one request, and all that is asked about it. */
class RequestPath {
  readonly path: string;
  readonly segments: Segments;
  /** The readings that surely stay at the place of the path. */
  readonly kept: readonly Segments[] | undefined;
  readonly #work = new PathWork(requestWork);
  readonly #routes: readonly Route[] | undefined;

  constructor(path: string) {
    this.path = path;
    this.segments = path.split("/");
    const readings = readingsOf(path, this.#work)?.map((each) => each.split("/"));
    const depth = this.segments.length;
    const isKept = readings?.every(
      (each) => each.length <= depth && !each.some((name) => name === "." || name === ".."),
    );
    this.kept = isKept === true ? readings : undefined;
    this.#routes = readings && routesOf(readings, this.#work);
  }

  /** Whether one of its readings, or what a router makes of one, is forbidden; also where there is no telling. */
  meets(forbidden: ForbiddenPaths): boolean {
    // All who ask have the same work left, so that no answer depends on others.
    return !this.#routes || forbidden.meets(this.#routes, new PathWork(this.#work.left));
  }
}

/** The last one that was asked about: all that is asked about one request meets it, and it is read once. */
let last: RequestPath | undefined;

function requestPath(path: string): RequestPath {
  if (last?.path !== path) last = new RequestPath(path);
  return last;
}

/** Whether prefixes grant a path: `/a` does `/a` and `/a/b`, not `/ab`. Only `/` grants what can be read in two ways. */
export function pathGranter(prefixes: readonly string[]): (path: string) => boolean {
  if (prefixes.includes("/")) return () => true;
  const written = new PathTree(prefixes);
  const read = new PathTree(prefixes.flatMap((each) => readingsOfPrefix(each) ?? []));
  // As it is written before it is read at all: most paths are under no prefix.
  return (path) => written.has(path.split("/")) && requestPath(path).kept?.every((each) => read.has(each)) === true;
}

/** Whether a request for a path could reach what lies under one of some prefixes. For what forbids. */
export function pathToucher(prefixes: readonly string[]): (path: string) => boolean {
  const forbidden = new ForbiddenPaths(prefixes.flatMap((prefix) => readingsOfPrefix(prefix) ?? ["/"]));
  return (path) => prefixes.length > 0 && requestPath(path).meets(forbidden);
}
