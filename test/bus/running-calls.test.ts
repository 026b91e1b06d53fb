import { expect, it } from "vitest";
import type { BusRequest } from "../../packages/bus/src/serve/request.ts";
import { RunningCalls } from "../../packages/bus/src/serve/running-calls.ts";
import { FakeClock } from "../support/fake-clock.ts";

/** One caller leaves as many places free. */
const most = 100;
const from = { caller: { caller: "bus" }, credential: undefined };
const result = { bytes: 512, open: async () => [] };

function requestOf(at: number, deadlineMs: number): BusRequest {
  const correlation = at.toString(16).padStart(32, "0");
  return { reply: `_INBOX.${at}`, correlation, deadlineMs, definition: "", key: undefined, traceparent: undefined };
}

it("a server remembers a number of calls, and forgets those that are over soon after their deadline", async () => {
  const clock = new FakeClock();
  const calls = new RunningCalls(clock, 2 * most);
  const deadlineMs = clock.now() + 60_000;
  const runs = calls.add(from, requestOf(0, deadlineMs))!;
  for (let at = 1; at < most; at++) calls.end(calls.add(from, requestOf(at, deadlineMs))!, result);
  expect(calls.add(from, requestOf(most, deadlineMs))).toBeUndefined();
  await clock.advance(60_000);
  expect(calls.add(from, requestOf(most, deadlineMs + 60_000))).toBeUndefined();
  await clock.advance(7_000);
  expect(calls.add(from, requestOf(most, deadlineMs + 60_000))).toBeDefined();
  expect(calls.find(from, requestOf(1, 0).correlation)).toBeUndefined();
  expect(calls.find(from, requestOf(0, 0).correlation)).toBe(runs);
  calls.end(runs, result);
  await clock.advance(1_000);
  calls.add(from, requestOf(most + 1, deadlineMs + 60_000));
  expect(calls.find(from, requestOf(0, 0).correlation)).toBeUndefined();
});
