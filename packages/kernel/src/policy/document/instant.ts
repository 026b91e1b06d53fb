import { dateTime } from "../../schema/formats/dates.ts";

/** RFC 3339, 5.6 and 5.7; `undefined` for another text. `Date.parse` of V8 takes 31 April for 1 May; other engines refuse it. */
export function readInstant(text: string): number | undefined {
  const ms = dateTime(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(ms) ? undefined : ms;
}
