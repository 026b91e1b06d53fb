import { type TimeWindow, weekdays } from "../../document/policy.ts";
import { distinct } from "./patterns.ts";

const minuteMs = 60_000;
const weekMs = 7 * 1_440 * minuteMs;
const mostInstants = 20_000;

/** Instants on both sides of each boundary of some windows: each part of the week within each span of time. */
export function instantsOf(windows: readonly TimeWindow[], usualMs: number): readonly number[] {
  return [...instants(windows, usualMs)].slice(0, mostInstants);
}

export function areWholeInstants(windows: readonly TimeWindow[], usualMs: number): boolean {
  return [...instants(windows, usualMs)].length <= mostInstants;
}

function* instants(windows: readonly TimeWindow[], usualMs: number): Iterable<number> {
  yield usualMs;
  const spans = distinct(
    windows.flatMap(({ after, before }) =>
      [after, before].flatMap((each) => (each === undefined ? [] : [Date.parse(each)])),
    ),
  ).toSorted((a, b) => a - b);
  const parts = partsOfTheWeek(windows);
  let count = 0;
  for (const [at, fromMs] of [usualMs, ...spans].entries()) {
    const untilMs = at === 0 ? Infinity : (spans[at] ?? Infinity);
    yield fromMs - 1;
    yield fromMs;
    for (const part of parts) {
      const atMs = fromMs + ((((part - fromMs) % weekMs) + weekMs) % weekMs);
      if (atMs < untilMs) yield atMs;
      // Before the first span, too.
      if (at === 1) yield atMs - weekMs;
      if (++count > mostInstants) return;
    }
  }
}

/** Offsets from the epoch, modulo a week, at which something begins or ends, and just before. */
function partsOfTheWeek(windows: readonly TimeWindow[]): readonly number[] {
  const clock = (text: string): number => Number(text.slice(0, 2)) * 60 + Number(text.slice(3));
  return distinct(
    windows.flatMap(({ days, from = "00:00", to = "24:00", utcOffsetMinutes = 0 }) =>
      weekdays.flatMap((_, day) =>
        [0, clock(from), clock(to)].flatMap((minute) => {
          const startMs = (day * 1_440 + minute - utcOffsetMinutes) * minuteMs;
          return days || minute > 0 ? [startMs, startMs - 1] : [];
        }),
      ),
    ),
  );
}

/** Versions on both sides of each range. */
export function versionsOf(ranges: readonly string[]): readonly string[] {
  return distinct([
    "1.0.0",
    ...ranges.flatMap((range) => {
      const [, major = "0", minor = "0", patch = "0"] = /(\d+)(?:\.(\d+))?(?:\.(\d+))?/.exec(range) ?? [];
      const [a, b, c] = [Number(major), Number(minor), Number(patch)];
      const cores = [
        [a, b, c],
        [a, b, c + 1],
        [a, b + 1, 0],
        [a + 1, 0, 0],
        [a, b, Math.max(0, c - 1)],
        [a, Math.max(0, b - 1), c],
        [Math.max(0, a - 1), b, c],
      ];
      const plain = cores.map((core) => core.join("."));
      return [
        ...(/^\d+\.\d+\.\d+/.test(range) ? [range, `${range.replace(/[-+].*/, "")}-0`] : []),
        ...plain,
        ...plain.map((each) => `${each}-x`),
      ];
    }),
    "0.0.0",
    "999999999.0.0",
  ]);
}
