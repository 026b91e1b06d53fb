import { type TimeWindow, weekdays } from "../document/policy.ts";

const dayMs = 86_400_000;
const minutesOf = (clock: string): number => Number(clock.slice(0, 2)) * 60 + Number(clock.slice(3));

/** 1970-01-01, day 0, was a Thursday. */
function weekdayOf(day: number): (typeof weekdays)[number] {
  return weekdays[(((day + 4) % 7) + 7) % 7]!;
}

/** Whether an instant lies in a window. The minutes behind midnight belong to the day on which the window began. Days and clock times are those of UTC and the window's offset. */
export function compileTime(window: TimeWindow): (nowMs: number) => boolean {
  const { days, from = "00:00", to = "24:00", utcOffsetMinutes = 0, after, before } = window;
  const [fromMinute, toMinute] = [minutesOf(from), minutesOf(to)];
  const [afterMs, beforeMs] = [
    Date.parse(after ?? "0000-01-01T00:00:00Z"),
    Date.parse(before ?? "9999-12-31T23:59:59Z"),
  ];
  return (nowMs) => {
    if (nowMs < afterMs || nowMs >= beforeMs) return false;
    const localMs = nowMs + utcOffsetMinutes * 60_000;
    const day = Math.floor(localMs / dayMs);
    const minute = (localMs - day * dayMs) / 60_000;
    const isBehindMidnight = fromMinute > toMinute && minute < toMinute;
    const isIn = isBehindMidnight || (minute >= fromMinute && (fromMinute > toMinute || minute < toMinute));
    return isIn && (days === undefined || days.includes(weekdayOf(isBehindMidnight ? day - 1 : day)));
  };
}
