import { createKernel, limits, memorySink } from "@keyhole/kernel";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { echo, openPolicy } from "../support/kernel.ts";

interface Stored {
  readonly seq: number;
  readonly body: string;
  readonly hash: string;
}

const hash = `blake3:${"0".repeat(64)}`;
/** As long as one piece of its memory, and longer; of one to four bytes a character. */
const values = fc.oneof(
  fc.string({ unit: "grapheme", maxLength: 200 }),
  fc.constantFrom("", "{", "é".repeat(40_000), "\u{1f600}".repeat(9_000), "x".repeat(70_000)),
);
const batches = fc.array(fc.array(values, { minLength: 1, maxLength: 6 }), { maxLength: 30 });

function recorded(all: readonly (readonly string[])[], firstSeq: number): Stored[][] {
  let seq = firstSeq;
  return all.map((batch) => batch.map((value) => ({ seq: seq++, body: JSON.stringify({ value }), hash })));
}

describe("the memory sink", () => {
  it("gives the last events as they were, whatever their length", () => {
    fc.assert(
      fc.property(
        batches,
        fc.nat(5),
        fc.integer({ min: 1, max: 12 }),
        fc.nat(90),
        fc.nat(20),
        (all, first, max, from, limit) => {
          const sink = memorySink(max);
          const records = recorded(all, first);
          for (const batch of records) void sink.append(batch);
          const kept = records.flat().slice(-max);
          expect(sink.read(0, 1_000)).toEqual(kept);
          expect(sink.read(from, limit)).toEqual(kept.filter(({ seq }) => seq >= from).slice(0, limit));
          expect(sink.open()).toEqual({ last: kept.at(-1), cutBytes: 0, damage: null });
        },
      ),
    );
  });

  it("forgets at its bound, and one past it", () => {
    const sink = memorySink(3);
    const [records] = recorded([["a", "b", "c", "d"]], 0);
    for (const record of records!.slice(0, 3)) void sink.append([record]);
    expect(sink.read(0, 9)).toEqual(records!.slice(0, 3));
    void sink.append([records![3]!]);
    expect(sink.read(0, 9)).toEqual(records!.slice(1));
  });

  it("can be told to keep nothing", async () => {
    const sink = memorySink(0);
    const kernel = await createKernel({ policy: openPolicy, sink });
    kernel.registerTrusted(echo);
    for (let i = 0; i < 2; i++) expect(await kernel.call("echo", { message: "a" })).toMatchObject({ ok: true });
    expect(sink.read(0, 9)).toEqual([]);
    expect(sink.open()).toEqual({ last: undefined, cutBytes: 0, damage: null });
  });

  it("takes no events as none", () => {
    const sink = memorySink(3);
    const [records] = recorded([["a"]], 7);
    for (const batch of [[], records!, []]) void sink.append(batch);
    expect(sink.open()).toEqual({ last: records![0], cutBytes: 0, damage: null });
    expect(sink.read(0, 9)).toEqual(records);
  });

  it("begins with its first event, whatever its number", () => {
    const sink = memorySink(3);
    const [records] = recorded([["a", "b"]], 7);
    void sink.append(records!);
    expect(sink.read(0, 1)).toEqual(records!.slice(0, 1));
  });

  it("shows nothing of what its memory held before", () => {
    const sink = memorySink(10);
    const long = recorded(
      Array.from({ length: 40 }, () => ["y".repeat(9_000)]),
      0,
    ).flat();
    const short = recorded(
      Array.from({ length: 10 }, () => ["z"]),
      long.length,
    ).flat();
    for (const record of [...long, ...short]) void sink.append([record]);
    expect(sink.read(0, 100)).toEqual(short);
  });

  it("keeps as many as the limits say", () => {
    const sink = memorySink();
    const records = recorded([Array.from({ length: limits.memoryEvents + 1 }, () => "")], 0).flat();
    for (const record of records) void sink.append([record]);
    expect(sink.read(0, records.length)).toHaveLength(limits.memoryEvents);
    expect(sink.read(0, 1)).toEqual([records[1]]);
  });

  it("reads its last events from any sequence number", () => {
    const sink = memorySink(3);
    const event = (seq: number) => ({ seq, body: "{}", hash: "" });
    for (let seq = 0; seq < 10; seq++) void sink.append([event(seq)]);
    expect(sink.read(0, 10)).toEqual([7, 8, 9].map(event));
    expect(sink.read(8, 1)).toEqual([event(8)]);
    expect(sink.open()).toMatchObject({ last: event(9) });
  });
});
