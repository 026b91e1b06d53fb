import fc from "fast-check";
import { expect, it } from "vitest";
import { parseDate } from "../../packages/worker-host/src/guest/harden/parse-date.ts";
import { sized } from "../support/size.ts";

const text = (ms: number): string => (Number.isNaN(ms) ? "none" : new Date(ms).toISOString());

it.each([
  ["2020", "2020-01-01T00:00:00.000Z"],
  ["2020-07", "2020-07-01T00:00:00.000Z"],
  ["2020-07-01", "2020-07-01T00:00:00.000Z"],
  ["2020-07-01T05:00", "2020-07-01T05:00:00.000Z"],
  ["2020-07-01 05:00:06", "2020-07-01T05:00:06.000Z"],
  ["2020-07-01T05:00:06.7899Z", "2020-07-01T05:00:06.789Z"],
  ["2020-07-01T05:00+02:30", "2020-07-01T02:30:00.000Z"],
  ["2020-01-01T24:00", "2020-01-02T00:00:00.000Z"],
  ["2020-01-01T24:00:01", "none"],
  ["2020-02-29", "2020-02-29T00:00:00.000Z"],
  ["2100-02-29", "none"],
  ["2020-13-01", "none"],
  ["2020-01-01T05:60", "none"],
  ["-000001-01-01", "-000001-01-01T00:00:00.000Z"],
  ["-000000-01-01", "none"],
  ["+275760-09-13", "+275760-09-13T00:00:00.000Z"],
  ["+275760-09-13T00:00:00.001Z", "none"],
  ["Wed, 01 Jul 2020 05:00:00 GMT", "2020-07-01T05:00:00.000Z"],
  ["Wed, 1 Jul 2020 05:00 +0430", "2020-07-01T00:30:00.000Z"],
  ["1 Jul 2020", "2020-07-01T00:00:00.000Z"],
  ["Wed Jul 01 2020 05:00:00 GMT-0700 (Pacific Daylight Time)", "2020-07-01T12:00:00.000Z"],
  ["Jul 1, 2020 05:00", "2020-07-01T05:00:00.000Z"],
  ["31 Jun 2020", "none"],
  ["1 Jux 2020", "none"],
  ["1 Jul 2020 05:00 +2400", "none"],
  ["07-01-2020", "none"],
  ["7/1/2020 5:00 PM", "none"],
  ["Jul 1 2020 10:00 EST", "none"],
  ["Jul 1 Aug 2020", "none"],
  ["July the first", "none"],
  ["", "none"],
])("reads %j as %s", (given, expected) => {
  expect(text(parseDate(given))).toBe(expected);
});

it("reads what the language writes, whatever the machine's zone", () => {
  const ms = fc.integer({ min: -8.64e15, max: 8.64e15 });
  fc.assert(
    fc.property(fc.oneof(ms, fc.integer({ min: -1e14, max: 1e14 })), (instant) => {
      const date = new Date(instant);
      const whole = Math.floor(instant / 1_000) * 1_000;
      expect([parseDate(date.toISOString()), parseDate(date.toUTCString())]).toEqual([instant, whole]);
      if (Math.abs(instant) < 8.63e15) expect(parseDate(date.toString())).toBe(whole);
    }),
    { numRuns: sized(500, 50_000) },
  );
});
