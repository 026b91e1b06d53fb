import type { Span } from "./spans.ts";

/** A narrow stretch of time: nothing works in it. */
export interface Fold {
  readonly start: number;
  readonly end: number;
}

/** Places of times between 0 and 1. */
export interface Axis {
  readonly start: number;
  readonly end: number;
  readonly folds: readonly Fold[];
  /** Of a time, in milliseconds since the epoch; a time outside is at the nearer end. */
  readonly at: (time: number) => number;
  /** The time at a place. */
  readonly timeAt: (place: number) => number;
}

/** Shorter pauses are drawn as they are. */
export const foldMs = 500;
/** Of the whole width, for all folds together, and for one. */
const [foldsWidth, foldWidth] = [0.4, 0.06];
/** Ancestors that a question holds up: a chain of calls may be as long as an edge likes. */
const mostAncestors = 64;

/** @param isFolded folds the waiting of people, and the time between calls */
export function axisOf(spans: readonly Span[], isFolded: boolean): Axis {
  let [start, end] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const span of spans) {
    if (span.start < start) start = span.start;
    if (span.end > end) end = span.end;
  }
  if (start > end) [start, end] = [0, 0];
  return scaled(start, end, isFolded ? foldsOf(spans) : []);
}

/** Knots, between which a place grows evenly with the time. */
function scaled(start: number, end: number, folds: readonly Fold[]): Axis {
  const width = folds.length === 0 ? 0 : Math.min(foldWidth, foldsWidth / folds.length);
  let folded = 0;
  for (const fold of folds) folded += fold.end - fold.start;
  const work = Math.max(end - start - folded, Number.MIN_VALUE);
  const room = 1 - width * folds.length;
  const [times, places] = [[start], [0]];
  let place = 0;
  const knot = (time: number, by: number): void => {
    place += by;
    times.push(time);
    places.push(Math.min(place, 1));
  };
  let last = start;
  for (const fold of folds) {
    knot(fold.start, ((fold.start - last) / work) * room);
    knot(fold.end, width);
    last = fold.end;
  }
  times.push(end);
  places.push(1);
  return {
    start,
    end,
    folds,
    at: (time) => between(times, places, time),
    timeAt: (at) => between(places, times, at),
  };
}

/** Piecewise linear: `from` ascends. */
function between(from: readonly number[], to: readonly number[], value: number): number {
  const knot = (values: readonly number[], index: number): number => values[index] ?? 0;
  const last = from.length - 1;
  if (!(value > knot(from, 0))) return knot(to, 0);
  if (value >= knot(from, last)) return knot(to, last);
  let [low, high] = [0, last];
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (knot(from, middle) <= value) low = middle;
    else high = middle;
  }
  const length = knot(from, high) - knot(from, low);
  const share = length > 0 ? (value - knot(from, low)) / length : 0;
  return knot(to, low) + (knot(to, high) - knot(to, low)) * share;
}

interface Change {
  readonly time: number;
  readonly callId: string | null;
  /** Of tools that run. */
  readonly runs: -1 | 0 | 1;
  /** Of questions to people. */
  readonly asks: -1 | 0 | 1;
}

/** Where nothing works: nothing runs but tools whose calls, or calls within, wait for a person. */
function foldsOf(spans: readonly Span[]): readonly Fold[] {
  const parents = parentsOf(spans);
  const changes = changesOf(spans);
  const runs = new Map<string | null, number>();
  const asks = new Map<string | null, number>();
  let working = 0;
  const works = (id: string | null): number => ((runs.get(id) ?? 0) > 0 && (asks.get(id) ?? 0) === 0 ? 1 : 0);
  const count = (counts: Map<string | null, number>, id: string | null, by: number): void => {
    working -= works(id);
    counts.set(id, (counts.get(id) ?? 0) + by);
    working += works(id);
  };
  const folds: Fold[] = [];
  let last: number | undefined;
  for (const { time, callId, runs: run, asks: ask } of changes) {
    if (last !== undefined && working === 0 && time - last > foldMs) folds.push({ start: last, end: time });
    last = time;
    if (run !== 0) count(runs, callId, run);
    if (ask !== 0) for (const id of lineOf(callId, parents)) count(asks, id, ask);
  }
  return folds;
}

function changesOf(spans: readonly Span[]): readonly Change[] {
  const changes: Change[] = [];
  for (const { kind, start, end, event } of spans) {
    const { callId } = event;
    const runs = kind === "tool" && end > start ? 1 : 0;
    const asks = kind === "person" && end > start ? 1 : 0;
    changes.push({ time: start, callId, runs, asks });
    if (runs === 1 || asks === 1)
      changes.push({ time: end, callId, runs: runs === 1 ? -1 : 0, asks: asks === 1 ? -1 : 0 });
    else if (end > start) changes.push({ time: end, callId, runs: 0, asks: 0 });
  }
  return changes.sort((a, b) => a.time - b.time);
}

function parentsOf(spans: readonly Span[]): ReadonlyMap<string | null, string | null> {
  const parents = new Map<string | null, string | null>();
  for (const { kind, event } of spans)
    if (kind === "call" && event.type === "call.invoked") parents.set(event.callId, event.payload.parentCallId);
  return parents;
}

/** A call and those around it. A cycle ends at its first repetition. */
function lineOf(callId: string | null, parents: ReadonlyMap<string | null, string | null>): ReadonlySet<string | null> {
  const line = new Set<string | null>();
  let id: string | null | undefined = callId;
  while (id !== undefined && id !== null && !line.has(id) && line.size < mostAncestors) {
    line.add(id);
    id = parents.get(id);
  }
  return line;
}
