import { numbersAtStart } from "../../support/fold.ts";
import type { Segments } from "./path-tree.ts";
import type { PathWork } from "./path-work.ts";

/** One segment as routers of applications read it. */
interface RoutedSegment {
  readonly name: string;
  /** The name up to each dot, `!` and `(`: without extensions, formats, methods and keys. And the numbers at its beginning. */
  readonly cuts: readonly string[];
  /** Those up to a `!` or a `(`: no part of a file's name. */
  readonly called: readonly string[];
  /** Servers hand the rest of the path on to any file, and know many endings of scripts. */
  readonly isScript: boolean;
  /** A group in brackets carries a session, and names no place. */
  readonly isGroup: boolean;
  /** Of a collection, which stands before it in round brackets. */
  readonly key: readonly [collection: string, key: string] | undefined;
}

/** A reading of a path, without its empty segments. */
export interface Route {
  readonly segments: readonly RoutedSegment[];
  /** Where the last script or step up stands. Behind it, a place that is lost stays lost. */
  readonly lastTurn: number;
}

/** No honest request has more scripts in one path. */
const mostScripts = 8;

/**
 * The routes that routers read from readings. `undefined` where they cannot be known, or would take
 * more than the remaining work.
 */
export function routesOf(readings: readonly Segments[], work: PathWork): readonly Route[] | undefined {
  const routes: Route[] = [];
  for (const reading of readings) {
    const route = routeOf(reading, work);
    if (!route) return undefined;
    routes.push(route);
  }
  return routes;
}

function routeOf(reading: Segments, work: PathWork): Route | undefined {
  const names = reading.filter((each) => each !== "");
  const segments: RoutedSegment[] = [];
  let scripts = 0;
  let lastTurn = -1;
  for (const [at, name] of names.entries()) {
    const segment = segmentOf(name, at < names.length - 1, work);
    if (!segment) return undefined;
    if (segment.isScript && ++scripts > mostScripts) return undefined;
    if (segment.isScript || name === "..") lastTurn = at;
    segments.push(segment);
  }
  return { segments, lastTurn };
}

function segmentOf(name: string, hasMore: boolean, work: PathWork): RoutedSegment | undefined {
  if (!work.take(name.length)) return undefined;
  const cuts: string[] = [];
  const called: string[] = [];
  let hasDot = false;
  // A name that begins with a dot is one of its own; `.` and `..` are none.
  for (let at = name === ".." ? name.length : 1; at < name.length; at++) {
    const sign = name[at];
    if (sign !== "." && sign !== "!" && sign !== "(") continue;
    if (!work.take(at)) return undefined;
    cuts.push(name.slice(0, at));
    if (sign === ".") hasDot = true;
    else called.push(name.slice(0, at));
  }
  cuts.push(...numbersAtStart(name));
  return { name, cuts, called, isScript: hasDot && hasMore, isGroup: name.startsWith("("), key: keyOf(name) };
}

/** The collection and the key of `users(7)`, `users(id=7)` and `users('7')`, which OData also takes as `users/7`. */
export function keyOf(name: string): readonly [collection: string, key: string] | undefined {
  const [, collection = "", key = ""] = /^([^()]+)\((?:[^()=']*=)?'?([^()']+)'?\)$/.exec(name) ?? [];
  return key === "" ? undefined : [collection, key];
}
