import { type AuditEvent, hashJson, type JsonValue } from "@keyhole/kernel";
import fc from "fast-check";
import { describe, expect, it, vi } from "vitest";
import { axisOf, foldMs } from "../../packages/playground/src/timeline/axis.ts";
import { breaksOf, recompute, recomputeAll, tellMs } from "../../packages/playground/src/timeline/chain.ts";
import { type Chip, overviewOf, rowsOf } from "../../packages/playground/src/timeline/rows.ts";
import { maxDepth, spansOf } from "../../packages/playground/src/timeline/spans.ts";
import { asked, call, crossing, decided, done, invoked, log, resolved, started, timeOf } from "./timeline-parts.ts";

const whole = { hidden: new Set<Chip>(), text: "", from: 0, to: 1 };

function rowsFor(events: readonly AuditEvent[], shown: Partial<typeof whole> = {}) {
  const spans = spansOf(events);
  const places = new Map(events.map((event, index) => [event, index]));
  return rowsOf(spans, places, breaksOf(events), axisOf(spans, true), { ...whole, ...shown });
}

const asking = log([
  invoked(0, "a"),
  decided(1, "a", "ask"),
  asked(2, "a", "q"),
  resolved(60_002, "a", "q", "allow"),
  started(60_003, "a"),
  crossing(60_010, "a", "ok"),
  done(60_020, "a"),
]);

describe("the spans of a call", () => {
  it("are the call, its decision, the waiting, the tool's run and each request", () => {
    const spans = spansOf(asking).map(({ kind, start, end, outcome }) => [
      kind,
      start - timeOf(0),
      end - start,
      outcome,
    ]);
    expect(spans).toEqual([
      ["call", 0, 60_020, "completed"],
      ["policy", 1, 0, "ask"],
      ["person", 2, 60_000, "allowed by ada"],
      ["tool", 60_003, 17, "completed"],
      ["crossing", 60_010, 0, "through"],
    ]);
  });

  it("last until the latest event where they have no end", () => {
    const [span] = spansOf(asking.slice(0, 4));
    expect(span).toMatchObject({ kind: "call", isOpen: true, end: timeOf(60_002) });
  });

  it("stand below the call from within which they were made", () => {
    const events = log([
      invoked(0, "a"),
      started(1, "a"),
      invoked(2, "b", "a"),
      started(3, "b"),
      done(4, "b"),
      done(5, "a"),
    ]);
    expect(spansOf(events).map(({ kind, depth }) => `${kind} ${depth}`)).toEqual([
      "call 0",
      "tool 1",
      "call 1",
      "tool 2",
    ]);
  });
});

describe("a log that lies", () => {
  it.for<[string, string]>([
    ["no time", "never"],
    ["an empty time", ""],
    ["the year 275760", "+275760-09-13T00:00:00.000Z"],
    ["a time before all years", "-271821-04-20T00:00:00.000Z"],
    ["a time past all years", "+999999-01-01T00:00:00.000Z"],
  ])("of %s gives finite spans and places", ([, time]) => {
    for (const place of asking.keys()) {
      const events = asking.map((event, index) => (index === place ? { ...event, time } : event));
      expectSound(events);
    }
  });

  it("of parents in a cycle ends", () => {
    const events = log([
      invoked(0, "a", "b"),
      invoked(1, "b", "a"),
      invoked(2, "c", "c"),
      asked(3, "a", "q"),
      done(9_000, "c"),
    ]);
    expect(
      spansOf(events)
        .filter(({ kind }) => kind === "call")
        .map(({ depth }) => depth),
    ).toEqual([0, 1, 0]);
    expectSound(events);
  });

  it("of calls that nest without end is drawn at the greatest depth", () => {
    const events = log(
      Array.from({ length: 500 }, (_, at) => invoked(at, `c${at}`, at === 0 ? undefined : `c${at - 1}`)),
    );
    expect(Math.max(...spansOf(events).map(({ depth }) => depth))).toBe(maxDepth);
    expectSound(events);
  });

  it("of any events in any order gives finite spans in proportion", () => {
    const time = fc.oneof(
      fc.constantFrom("", "x", timeText(0), timeText(1e15)),
      fc.integer({ min: 0, max: 1e5 }).map(timeText),
    );
    const id = fc.constantFrom("a", "b", "c");
    const event = fc.oneof(
      fc.tuple(id, id).map(([own, parent]) => invoked(0, own, parent)),
      id.map((own) => asked(0, own, "q")),
      id.map((own) => resolved(0, own, "q", "allow")),
      id.map((own) => started(0, own)),
      id.map((own) => crossing(0, own, "refused")),
      id.map((own) => done(0, own)),
      id.map((own) => call(0, "tool.from.tomorrow", own, { odd: true })),
    );
    fc.assert(
      fc.property(fc.array(fc.tuple(event, time), { maxLength: 60 }), (pairs) =>
        expectSound(log(pairs.map(([made, at]) => ({ ...made, time: at })))),
      ),
      { numRuns: 300 },
    );
  });
});

function timeText(afterMs: number): string {
  const date = new Date(timeOf(afterMs));
  return Number.isNaN(date.getTime()) ? "no date" : date.toISOString();
}

function expectSound(events: readonly AuditEvent[]): void {
  const spans = spansOf(events);
  expect(spans.length).toBeLessThanOrEqual(events.length);
  for (const isFolded of [true, false]) {
    const axis = axisOf(spans, isFolded);
    let last = 0;
    for (const { start, end, depth } of spans) {
      expect(Number.isFinite(start) && Number.isFinite(end) && end >= start).toBe(true);
      expect(depth).toBeLessThanOrEqual(maxDepth + 1);
      const [from, to] = [axis.at(start), axis.at(end)];
      expect(from >= 0 && to <= 1 && to >= from, `${from} to ${to}`).toBe(true);
    }
    for (const place of [0, 0.25, 0.5, 0.75, 1]) {
      const time = axis.timeAt(place);
      expect(time).toBeGreaterThanOrEqual(place === 0 ? axis.start : last);
      last = time;
    }
    expect(overviewOf(spans, axis, 10).every((lane) => lane.length === 10)).toBe(true);
  }
}

describe("the axis", () => {
  it("folds the time in which only a person is waited for", () => {
    const spans = spansOf(asking);
    const folded = axisOf(spans, true);
    expect(folded.folds).toEqual([{ start: timeOf(2), end: timeOf(60_002) }]);
    expect(folded.at(timeOf(60_002)) - folded.at(timeOf(2))).toBeLessThan(0.1);
    const plain = axisOf(spans, false);
    expect(plain.at(timeOf(60_002)) - plain.at(timeOf(2))).toBeGreaterThan(0.9);
  });

  it.for([
    [foldMs, 0],
    [foldMs + 1, 1],
  ])("folds a pause of %i ms %i times", ([pause, folds]) => {
    const events = log([
      invoked(0, "a"),
      asked(1, "a", "q"),
      resolved(1 + pause!, "a", "q", "allow"),
      done(2 + pause!, "a"),
    ]);
    expect(axisOf(spansOf(events), true).folds.length).toBe(folds);
  });

  it("does not fold the work of another call while a person is asked", () => {
    const events = log([
      invoked(0, "a"),
      asked(1, "a", "q"),
      invoked(2, "b"),
      started(3, "b"),
      done(9_000, "b"),
      resolved(9_001, "a", "q", "allow"),
    ]);
    expect(axisOf(spansOf(events), true).folds).toEqual([]);
  });

  it("folds the run of a program whose call waits for a person", () => {
    const events = log([
      invoked(0, "a"),
      started(1, "a"),
      invoked(2, "b", "a"),
      asked(3, "b", "q"),
      resolved(9_000, "b", "q", "allow"),
      done(9_001, "b"),
      done(9_002, "a"),
    ]);
    expect(axisOf(spansOf(events), true).folds.length).toBe(1);
  });
});

describe("the chain", () => {
  const chained = (events: readonly AuditEvent[]): readonly AuditEvent[] => {
    const made: AuditEvent[] = [];
    for (const { hash: _hash, ...body } of events) {
      const whole = { ...body, prev: made.at(-1)?.hash ?? body.prev };
      made.push({ ...whole, hash: hashJson(whole as unknown as JsonValue) });
    }
    return made;
  };
  const sound = chained(asking);

  it("that is whole has no break", async () => {
    expect(breaksOf(sound)).toEqual([]);
    let told: unknown;
    await recomputeAll(sound, (done, breaks) => (told = { done, breaks }), new AbortController().signal);
    expect(told).toEqual({ done: sound.length, breaks: [] });
  });

  it("tells of its hashes a few times a second, with one list until there is a break", async () => {
    const events = Array.from({ length: 400 }, () => sound[0]!);
    // Each look at the clock is a millisecond.
    let now = 0;
    const clock = vi.spyOn(performance, "now").mockImplementation(() => now++);
    const told: unknown[] = [];
    await recomputeAll(events, (_, breaks) => told.push(breaks), new AbortController().signal);
    clock.mockRestore();
    expect(told.length).toBeLessThanOrEqual(events.length / tellMs + 1);
    expect(told.length).toBeGreaterThan(2);
    expect(new Set(told.slice(0, -1)).size).toBe(1);
  });

  it("names both hashes where an event does not follow", () => {
    const events = sound.map((event, index) => (index === 3 ? { ...event, prev: `blake3:${"f".repeat(64)}` } : event));
    expect(breaksOf(events)).toEqual([
      {
        index: 3,
        reason: "Event 3 does not follow event 2.",
        expected: sound[2]!.hash,
        found: `blake3:${"f".repeat(64)}`,
      },
    ]);
    expect(rowsFor(events).map((row) => (row.kind === "span" ? row.link : "break"))).toEqual([
      "whole",
      "whole",
      "whole",
      "break",
      "unproven",
      "unproven",
    ]);
  });

  it("names both hashes where an event was changed", () => {
    const changed = { ...sound[1]!, callId: "other" };
    expect(recompute(changed, 1)).toMatchObject({ index: 1, reason: "Event 1 was changed.", found: sound[1]!.hash });
    expect(recompute(changed, 1)?.expected).not.toBe(sound[1]!.hash);
    expect(recompute({ ...changed, hash: "md5:0" }, 1)?.expected).toBe("no known algorithm");
  });

  it("lists a bounded number of breaks", async () => {
    const events = log(Array.from({ length: 1_500 }, (_, at) => call(at, "x", "a", { at })));
    expect(breaksOf(events.map((event, at) => ({ ...event, prev: `blake3:${at}` }))).length).toBe(1_000);
    let found = 0;
    await recomputeAll(events, (_, breaks) => (found = breaks.length), new AbortController().signal);
    expect(found).toBe(1_000);
  });

  it("keeps a break in sight when every span is hidden", () => {
    const events = sound.map((event, index) => (index === 6 ? { ...event, prev: "blake3:0" } : event));
    expect(rowsFor(events, { text: "no such span" }).map(({ kind }) => kind)).toEqual(["break"]);
  });
});

describe("the rows", () => {
  it("are those of the chips and the search", () => {
    const kinds = (shown: Partial<typeof whole>) =>
      rowsFor(asking, shown).map((row) => (row.kind === "span" ? row.span.kind : "break"));
    expect(kinds({ hidden: new Set<Chip>(["policy", "people"]) })).toEqual(["call", "tool", "crossing"]);
    expect(kinds({ text: "EXAMPLE.com" })).toEqual(["crossing"]);
  });

  it("are those within the time that is shown", () => {
    const kinds = rowsFor(asking, { from: 0.9, to: 1 }).map((row) => (row.kind === "span" ? row.span.kind : "break"));
    expect(kinds).toEqual(["call", "tool"]);
  });
});
