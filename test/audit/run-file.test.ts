import { lines } from "@keyhole/kernel/audit";
import { readRun, RUN_LINE_BYTES, type RunEntry, writeRun } from "@keyhole/kernel/replay";
import { describe, expect, it } from "vitest";
import { wholeOutputBytes } from "../../packages/kernel/src/limits.ts";
import { sampled } from "../support/sampled.ts";
import { recorded } from "./reading-run.ts";

describe("a run file that is none", () => {
  it.each<[string, string, number]>([
    ["empty", "", 1],
    ["something else", '{"hello":1}\n', 1],
    ["a header of another version", '{"format":"keyhole-run","v":2,"algorithm":"blake3"}\n', 1],
    ["a header of no algorithm", '{"format":"keyhole-run","v":1}\n', 1],
    ["a header of an unknown algorithm", '{"format":"keyhole-run","v":1,"algorithm":"md5"}\n', 1],
    ["a header of a name that every object has", '{"format":"keyhole-run","v":1,"algorithm":"toString"}\n', 1],
    ["no JSON in it", '{"format":"keyhole-run","v":1,"algorithm":"blake3"}\n{', 2],
    ["an unknown entry", '{"format":"keyhole-run","v":1,"algorithm":"blake3"}\n{"kind":"eval","callId":"x"}', 2],
    [
      "an entry with more",
      '{"format":"keyhole-run","v":1,"algorithm":"blake3"}\n{"kind":"outcome","callId":"x","outcome":"returned","outcomeHash":"blake3:' +
        "0".repeat(64) +
        '","more":1}',
      2,
    ],
  ])("%s is refused with its line", async (_, text, line) => {
    expect(await readRun(text.split("\n"))).toMatchObject({ ok: false, line });
  });
});

it("has no line beyond its reader's bound: an output of control characters alone", async () => {
  const { run } = await recorded([["a"]]);
  const steering = (length: number): number => {
    const entries = run.entries.map((each) =>
      each.kind === "outcome" ? { ...each, result: { form: "text", text: "\u0001".repeat(length) } } : each,
    );
    return Math.max(
      ...writeRun({ entries })
        .split("\n")
        .map((line) => line.length),
    );
  };
  const byteLength = steering(2_000) - steering(1_000);
  expect((byteLength / 1_000) * wholeOutputBytes + steering(0)).toBeLessThan(RUN_LINE_BYTES);
});

describe("a run file that was", () => {
  const make = async () => writeRun((await recorded([["a", "b"], ["c"]])).run);

  it("cut at any byte is refused", async () => {
    const bytes = new TextEncoder().encode(await make());
    for (const length of sampled(bytes.length - 1, 7))
      expect((await readRun(lines([bytes.subarray(0, length)]))).ok, `${length} bytes`).toBe(false);
    expect((await readRun(lines([bytes.subarray(0, -1)]))).ok).toBe(true);
  });

  it("changed in any bit is refused", async () => {
    const bytes = new TextEncoder().encode(await make());
    for (const at of sampled(bytes.length, 5)) {
      const copy = bytes.slice();
      copy[at]! ^= 1 << (at % 8);
      const read = await readRun(lines([copy]));
      if (read.ok) expect(at).toBe(bytes.length - 1);
    }
  });

  it.each<[string, (list: readonly string[]) => readonly string[], RegExp]>([
    ["cut before its end", (list) => list.slice(0, -2), /end is missing/],
    ["joined with another", (list) => [...list.slice(0, -1), ...list], /after the end/],
    ["shortened by an entry", (list) => list.toSpliced(2, 1), /entries/],
    ["reordered", (list) => list.toSpliced(2, 2, list[3]!, list[2]!), /changed/],
  ])("%s is refused", async (_, change, reason) => {
    const list = (await make()).split("\n");
    expect(await readRun(change(list))).toMatchObject({ ok: false, reason: expect.stringMatching(reason) });
  });

  it("sealed anew over entries that are no run is refused at the entry", async () => {
    const { run } = await recorded([["a"]]);
    const moved = { entries: [run.entries[1]!, run.entries[0]!, ...run.entries.slice(2)] };
    expect(await readRun(writeRun(moved).split("\n"))).toMatchObject({ ok: false, line: 2 });
    const twice = {
      entries: run.entries.flatMap((entry): RunEntry[] => (entry.kind === "reply" ? [entry, entry] : [entry])),
    };
    expect(await readRun(writeRun(twice).split("\n"))).toMatchObject({
      reason: expect.stringMatching(/two answers/),
    });
  });
});
