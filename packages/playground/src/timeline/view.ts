import type { Axis } from "./axis.ts";

/** The drawn part of the axis, as places between 0 and 1. */
export interface Window {
  readonly from: number;
  readonly to: number;
}

/** Axis, window and folds that every row is drawn with, made once for all rows. */
export interface View {
  readonly axis: Axis;
  readonly window: Window;
  /** The folded time, as a path in a box of 100 by 1. */
  readonly folds: string;
}

/** A part of the drawn width, in percent. */
export interface Stretch {
  readonly from: number;
  readonly to: number;
}

/** In percent. The axis omits a narrower gap between two folds: a log may have a fold for each event. */
const leastGap = 0.5;

export function viewOf(axis: Axis, window: Window): View {
  const folds = foldsWithin(axis, window).map(({ from, to }) => `M${round(from)} 0H${round(to)}V1H${round(from)}Z`);
  return { axis, window, folds: folds.join("") };
}

/** @returns the folded stretches in sight, at most 201 however many the axis has */
export function foldsWithin(axis: Axis, window: Window): readonly Stretch[] {
  const stretches: Stretch[] = [];
  let last: Stretch | undefined;
  for (const fold of axis.folds) {
    const from = Math.max(0, placeOf({ axis, window }, fold.start));
    const to = Math.min(100, placeOf({ axis, window }, fold.end));
    if (to <= from) continue;
    const isApart = last === undefined || from - last.to >= leastGap;
    last = { from: isApart || last === undefined ? from : last.from, to };
    if (isApart) stretches.push(last);
    else stretches[stretches.length - 1] = last;
  }
  return stretches;
}

/** In percent of the drawn width. */
export function placeOf({ axis, window: { from, to } }: Omit<View, "folds">, time: number): number {
  const place = ((axis.at(time) - from) / (to - from)) * 100;
  return Math.max(-1, Math.min(101, place));
}

function round(percent: number): number {
  return Math.round(percent * 1_000) / 1_000;
}
