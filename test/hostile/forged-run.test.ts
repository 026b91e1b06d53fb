import { blake3Hash, createKernel, type IsolateHost, systemClock, type ToolContext } from "@keyhole/kernel";
import { inlineHost } from "@keyhole/kernel/inline";
import { lines } from "@keyhole/kernel/audit";
import {
  inspect,
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
import { type Execute, recordedCall } from "../support/recorded-call.ts";
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
  kernel.registerTrusted(subject);
  for (const n of [1, 2]) await kernel.call("subject", { n });
  text = writeRun({ entries });
});

const bytesOf = (content: string): Uint8Array => new TextEncoder().encode(content);
const read = (bytes: Uint8Array): Promise<RunResult> => readRun(lines([bytes], RUN_LINE_BYTES));
/** A file with new digests: everybody who can write it can compute them. */
const resealed = (change: (entries: readonly RunEntry[]) => readonly RunEntry[]): Uint8Array =>
  bytesOf(writeRun({ entries: change(entries) }));

describe("a run file from an untrusted source", () => {
  it.each<[string, () => Uint8Array, number, RegExp]>([
    ["a gap", () => bytesOf(text.split("\n").toSpliced(2, 1).join("\n")), 5, /had 4 entries, 3 are here/],
    ["a gap, with new digests", () => resealed((all) => all.toSpliced(1, 1)), 2, /no end of this call/],
    [
      "two lines in another order",
      () =>
        bytesOf(
          text
            .split("\n")
            .toSpliced(2, 2, ...text.split("\n").slice(2, 4).toReversed())
            .join("\n"),
        ),
      6,
      /has changed/,
    ],
    [
      "an end before its beginning, with new digests",
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
    ["a call twice, with new digests", () => resealed((all) => [...all, ...all.slice(0, 2)]), 6, /twice/],
    [
      "an event of a log",
      () => bytesOf(text.replace("\n", '\n{"v":1,"seq":0,"type":"call.invoked"}\n')),
      2,
      /not an entry of a run/,
    ],
    [
      "another algorithm",
      () =>
        resealed((all) =>
          all.map((entry) => (entry.kind === "call" ? { ...entry, toolHash: `md5:${"0".repeat(32)}` } : entry)),
        ),
      2,
      /not an entry of a run/,
    ],
    [
      "one digest in another algorithm, with new digests",
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
      /has changed/,
    ],
    [
      "a key that no entry has",
      () => resealed((all) => all.map((entry) => ({ ...entry, constructor: 1 }) as never)),
      2,
      /not an entry of a run/,
    ],
    ["cut UTF-8", () => bytesOf(text).with(bytesOf(text).lastIndexOf(0x7d), 0xe2), 6, /not UTF-8/],
    ["an empty file", () => new Uint8Array(), 1, /empty/],
  ])("is refused with its line and a reason: %s", async (_, make, line, reason) => {
    expect(await read(make())).toEqual({ ok: false, line, reason: expect.stringMatching(reason) });
  });

  it("is refused: a line of a gigabyte, before it is in memory", async () => {
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

const reads: Execute = async (_, { files }: ToolContext) => files.read("a").catch((error: Error) => error.message);
const [call, request, reply, outcome] = (await recordedCall(reads, {
  effects: ["fs.read"],
  capabilities: [{ kind: "fs.read", paths: ["**"] }],
})) as [Of<"call">, Of<"request">, Of<"reply">, Of<"outcome">];

describe("a run file that was changed after its recording", () => {
  const read = (...entries: readonly RunEntry[]) => readRun(writeRun({ entries }).split("\n"));
  const result = { form: "json", text: '"nothing was read"' };

  it("is whole before the change", async () => {
    expect(await read(call, request, reply, outcome)).toMatchObject({ ok: true });
  });

  it.each<[string, readonly RunEntry[], number, RegExp]>([
    [
      "another request",
      [call, { ...request, request: { ...request.request, operation: "list" } }],
      3,
      /^Call .*match its digest/,
    ],
    ["another fault", [call, { ...request, request: { fault: "too-deep" } }], 3, /^Call .*match its digest/],
    ["another outcome", [call, request, reply, { ...outcome, result }], 5, /^Call .*match its digest/],
    [
      "another kind of outcome",
      [call, request, reply, { ...outcome, outcome: "refused" }],
      5,
      /^Call .*match its digest/,
    ],
    [
      "an outcome of bytes",
      [call, request, reply, { ...outcome, result: { form: "binary", byteLength: 1, hash: blake3Hash.zero } }],
      5,
      /^Call .*match its digest/,
    ],
    ["a body in base64 that is not canonical", [call, request, { ...reply, body: " QQ==" }], 4, /not base64/],
    ["a body without its padding", [call, request, { ...reply, body: "QQ" }], 4, /not base64/],
    ["a time out of range", [{ ...call, nowMs: 8.64e15 + 1 }], 2, /not an entry of a run: \/nowMs/],
  ])("is refused: %s", async (_, entries, line, reason) => {
    expect(await read(...entries)).toEqual({ ok: false, line, reason: expect.stringMatching(reason) });
  });

  it("is readable with the last time that a Date can show", async () => {
    const read1 = await read({ ...call, callId: "c", nowMs: 8.64e15 }, { ...outcome, callId: "c" });
    expect(read1.ok && inspect(read1.run)[0]!.startedAt).toBe("+275760-09-13T00:00:00.000Z");
  });

  it("is refused: a line that names a member twice", async () => {
    const lines = writeRun({ entries: [call, request, reply, outcome] }).split("\n");
    lines[1] = lines[1]!.replace("{", '{"inputText":"{\\"n\\":1}",');
    const hash = lines.slice(0, 5).reduce((before, line) => blake3Hash.text(`${before}\n${line}`), "");
    lines[5] = JSON.stringify({ kind: "end", entries: 4, hash });
    expect(await readRun(lines)).toEqual({ ok: false, line: 2, reason: "It names a member twice." });
  });

  it("diverges in replay where it records a longer output than the tool returned", async () => {
    const gives: Execute = () => new Uint8Array(3);
    const more = { determinism: "external", output: { kind: "binary" } };
    const entries = await recordedCall(gives, more);
    const forged = entries.map((entry) =>
      entry.kind === "outcome" ? { ...entry, result: { ...entry.result, byteLength: 4 } } : entry,
    );
    const options = { host: inlineHost(), tools: [registered(toolOf(gives, more))], clock: systemClock };
    expect(await replay({ entries }, options)).toEqual({ ok: true, calls: 1 });
    expect(await replay({ entries: forged }, options)).toMatchObject({
      kind: "diverged",
      divergence: { difference: { path: "/byteLength", expected: "4", actual: "3" } },
    });
  });
});

describe("a run that replay cannot serve", () => {
  const host: IsolateHost = { ...inlineHost(), open: () => Promise.reject(new Error("an isolate was opened")) };
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
    ["a package hash for a tool that is not composed", { packageHash: "" }, /is not among the tools/],
    ["the real clock", { real: ["clock"] }, /saw the real clock/],
    ["an attempt without the one before", { attempt: 3 }, /does not have attempt 2/],
  ])("executes nothing: %s", async (_, change, reason) => {
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

type Of<Kind extends RunEntry["kind"]> = Extract<RunEntry, { kind: Kind }>;
