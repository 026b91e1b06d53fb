import { createKernel, inlineHost, type IsolateHost, systemClock } from "@keyhole/kernel";
import { lines } from "@keyhole/kernel/audit";
import {
  readRun,
  recordingHost,
  replay,
  type RunEntry,
  type RunResult,
  RUN_LINE_BYTES,
  writeRun,
} from "@keyhole/kernel/replay";
import { beforeAll, describe, expect, it } from "vitest";
import { openPolicy, toolOf } from "../support/kernel.ts";
import { registered } from "../support/registered.ts";

const subject = toolOf(({ n }: { n: number }, { now }: { now: () => number }) => n + now(), { determinism: "seeded" });
let entries: RunEntry[];
let text: string;
beforeAll(async () => {
  entries = [];
  const kernel = await createKernel({
    host: recordingHost(inlineHost(), (entry) => entries.push(entry)),
    policy: openPolicy,
  });
  kernel.register(subject);
  for (const n of [1, 2]) await kernel.call("subject", { n });
  text = writeRun({ entries });
});

const bytesOf = (content: string): Uint8Array => new TextEncoder().encode(content);
const read = (bytes: Uint8Array): Promise<RunResult> => readRun(lines([bytes], RUN_LINE_BYTES));
/** The lines of a file that was sealed anew: whoever can write it can do that. */
const resealed = (change: (entries: readonly RunEntry[]) => readonly RunEntry[]): Uint8Array =>
  bytesOf(writeRun({ entries: change(entries) }));

describe("a run file from elsewhere is refused with its line and a reason", () => {
  it.each<[string, () => Uint8Array, number, RegExp]>([
    ["a gap", () => bytesOf(text.split("\n").toSpliced(2, 1).join("\n")), 5, /had 4 entries, 3 are here/],
    ["a gap, sealed anew", () => resealed((all) => all.toSpliced(1, 1)), 2, /no end of this call/],
    [
      "two lines changed about",
      () =>
        bytesOf(
          text
            .split("\n")
            .toSpliced(2, 2, ...text.split("\n").slice(2, 4).toReversed())
            .join("\n"),
        ),
      6,
      /was changed/,
    ],
    [
      "an end before its beginning, sealed anew",
      () => resealed(([a, b, ...more]) => [b!, a!, ...more]),
      2,
      /no beginning/,
    ],
    [
      "a line twice",
      () => bytesOf(text.split("\n").toSpliced(2, 0, text.split("\n")[2]!).join("\n")),
      7,
      /had 4 entries, 5 are here/,
    ],
    ["a call twice, sealed anew", () => resealed((all) => [...all, ...all.slice(0, 2)]), 6, /twice/],
    [
      "an event of a log",
      () => bytesOf(text.replace("\n", '\n{"v":1,"seq":0,"type":"call.invoked"}\n')),
      2,
      /no entry of a run/,
    ],
    [
      "another algorithm",
      () =>
        resealed((all) =>
          all.map((entry) => (entry.kind === "call" ? { ...entry, toolHash: `md5:${"0".repeat(32)}` } : entry)),
        ),
      2,
      /no entry of a run/,
    ],
    [
      "one digest in another algorithm, sealed anew",
      () =>
        resealed((all) =>
          all.map((entry) =>
            entry.kind === "outcome" ? { ...entry, outcomeHash: `sha256:${"0".repeat(64)}` } : entry,
          ),
        ),
      3,
      /in another algorithm than the run's, which is blake3/,
    ],
    [
      "another algorithm at its beginning",
      () => bytesOf(text.replace('"algorithm":"blake3"', '"algorithm":"sha256"')),
      2,
      /in another algorithm than the run's, which is sha256/,
    ],
    [
      "another algorithm at its end",
      () => bytesOf(text.replace(/"hash":"blake3:/, '"hash":"sha256:')),
      6,
      /was changed/,
    ],
    [
      "a key that no entry has",
      () => resealed((all) => all.map((entry) => ({ ...entry, constructor: 1 }) as never)),
      2,
      /no entry of a run/,
    ],
    ["cut UTF-8", () => bytesOf(text).with(bytesOf(text).lastIndexOf(0x7d), 0xe2), 6, /not UTF-8/],
    ["nothing", () => new Uint8Array(), 1, /empty/],
  ])("%s", async (_, make, line, reason) => {
    // prettier-ignore
    expect(await read(make())).toEqual({ ok: false, line, reason: expect.stringMatching(reason) });
  });

  it("a line of a gigabyte, before it is in memory", async () => {
    const piece = new Uint8Array(1_048_576).fill(0x61);
    let pieces = 0;
    function* endless() {
      yield bytesOf(text.slice(0, text.indexOf("\n") + 1));
      while (pieces < 1_024) {
        pieces++;
        yield piece;
      }
    }
    expect(await readRun(lines(endless(), RUN_LINE_BYTES))).toEqual({
      ok: false,
      line: 2,
      reason: expect.stringContaining(`longer than ${RUN_LINE_BYTES} bytes`),
    });
    expect(pieces * piece.length).toBeLessThanOrEqual(RUN_LINE_BYTES + piece.length);
  });
});

describe("a run that asks for what is not there executes nothing", () => {
  const host: IsolateHost = { ...inlineHost(), open: () => Promise.reject(new Error("something was opened")) };
  const tools = () => [registered(subject)];
  const withLastCall = (change: object): readonly RunEntry[] => {
    const at = entries.findLastIndex(({ kind }) => kind === "call");
    return entries.with(at, { ...entries[at]!, ...change });
  };

  it.each<[string, object, RegExp]>([
    [
      "a tool of another hash",
      { toolHash: `blake3:${"1".repeat(64)}` },
      /^subject@1\.0\.0 with hash blake3:1{64} is not among the tools\. A changed one can stand in for it: `instead`\.$/,
    ],
    ["a tool of this hash in another algorithm", { toolHash: `sha256:${"1".repeat(64)}` }, /is not among the tools/],
    ["a program in a package that takes none", { packageHash: "" }, /is not among the tools/],
    ["the real clock", { real: ["clock"] }, /saw the real clock/],
    ["an attempt without the one before", { attempt: 3 }, /does not have attempt 2/],
  ])("%s", async (_, change, reason) => {
    // prettier-ignore
    const run = { entries: withLastCall(change) };
    const { callId } = run.entries.at(-1)!;
    expect(await replay(run, { host, tools: tools(), clock: systemClock })).toEqual({
      ok: false,
      kind: "refused",
      callId,
      reason: expect.stringMatching(reason),
    });
  });
});
