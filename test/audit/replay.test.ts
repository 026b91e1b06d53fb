import { hashJson, createKernel, systemClock } from "@keyhole/kernel";
import { inlineHost } from "@keyhole/kernel/inline";
import { readRun, recordingHost, replay, type RunEntry, writeRun } from "@keyhole/kernel/replay";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { FakeClock } from "../support/fake-clock.ts";
import { manyRuns } from "./random-runs.ts";
import { registered } from "../support/registered.ts";
import { sized } from "../support/size.ts";
import { reader, restlessFiles, policy, recorded } from "./reading-run.ts";

const options = { host: inlineHost(), tools: [registered(reader)], clock: systemClock };

describe("a run", () => {
  it("is executed again to the same bytes, without its brokers, and as a file too", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(fc.stringMatching(/^[a-z]{1,5}$/), { maxLength: 6 }), { minLength: 1, maxLength: 4 }),
        async (calls) => {
          const { run, files } = await recorded(calls);
          const before = files.served;
          const read = await readRun(writeRun(run).split("\n"));
          expect(read).toMatchObject({ ok: true, run });
          expect(await replay(run, options)).toEqual({ ok: true, calls: calls.length });
          expect(files.served).toBe(before);
        },
      ),
      { numRuns: sized(20, 100), seed: 5 },
    );
  });

  it("of random tools is executed again to the same bytes", async () => {
    const runs = sized(60, 1_000);
    const { faults, requests, failed, retried, nested } = await manyRuns(runs, 5);
    expect(faults).toEqual([]);
    expect(requests).toBeGreaterThan(runs);
    expect(failed).toBeGreaterThan(runs / 20);
    expect(retried).toBeGreaterThan(runs / 20);
    expect(nested).toBeGreaterThan(runs / 5);
  });

  it("does not hold what came after its end", async () => {
    const entries: RunEntry[] = [];
    const files = restlessFiles();
    const over = Promise.withResolvers<void>();
    const late = {
      ...reader,
      code: {
        execute: async (_: unknown, { files }: { files: { read(path: string): Promise<unknown> } }) => {
          void files
            .read("a")
            .then(() => files.read("b"))
            .catch(() => {})
            .finally(over.resolve);
          return { texts: [], order: [], now: 0, random: 0 };
        },
      },
    };
    const kernel = await createKernel({
      host: recordingHost(inlineHost(), (entry) => entries.push(entry)),
      policy,
      brokers: [files],
    });
    kernel.registerTrusted(late);
    expect(await kernel.call("reader", { paths: [] })).toMatchObject({ ok: true });
    await over.promise;
    expect(entries.map(({ kind }) => kind)).toEqual(["call", "request", "outcome"]);
    expect(await replay({ entries }, { ...options, tools: [registered(late)] })).toEqual({ ok: true, calls: 1 });
  });

  const at = (entries: readonly RunEntry[], kind: RunEntry["kind"]) =>
    entries.findIndex((entry) => entry.kind === kind);

  it("that was changed diverges where it was changed first", async () => {
    const { run } = await recorded([["a", "b"], ["c"]]);
    const change = (kind: RunEntry["kind"], what: object) => {
      const seq = at(run.entries, kind);
      const changed: RunEntry = Object.assign({}, run.entries[seq]!, what);
      return { seq, entries: run.entries.with(seq, changed) };
    };
    const otherRequest = { kind: "fs.read", operation: "read", arguments: { path: "z" }, body: null };
    const request = change("request", { request: otherRequest, requestHash: hashJson(otherRequest) });
    expect(await replay(request, options)).toMatchObject({
      kind: "diverged",
      divergence: {
        seq: request.seq,
        expectedHash: hashJson(otherRequest),
        actualHash: expect.stringMatching(/^blake3:/),
        reason: expect.stringMatching(/^The tool made another request\./),
      },
    });
    const otherResult = { form: "json", text: "{}" };
    const outcome = change("outcome", { result: otherResult, outcomeHash: hashJson(otherResult) });
    expect(await replay(outcome, options)).toMatchObject({
      kind: "diverged",
      divergence: { seq: outcome.seq, expectedHash: hashJson(otherResult) },
    });
    for (const [kind, what] of [
      ["reply", { body: "AAAA" }],
      ["call", { seed: "1".repeat(64) }],
      ["call", { nowMs: 1 }],
    ] as const) {
      const { entries } = change(kind, what);
      const end = entries.findIndex(
        (entry) => entry.kind === "outcome" && entry.callId === (run.entries[0] as { callId: string }).callId,
      );
      expect(await replay({ entries }, options)).toMatchObject({
        kind: "diverged",
        divergence: {
          seq: end,
          reason: expect.stringMatching(
            /^The tool returned another value\. At \/output\/\S+ the run has .*, the replay .*\.$/,
          ),
          difference: { path: expect.stringMatching(/^\/output\//) },
        },
      });
    }
  });

  it("of a tool that asks more, less, or for ever diverges", async () => {
    const { run } = await recorded([["a", "b"]]);
    const other = (execute: (typeof reader)["code"]["execute"]) => ({
      ...options.tools[0]!,
      body: { source: "inline", code: { ...reader.code, execute } as never } as const,
    });
    const another = other(async (_, { files }) => ({ texts: [await files.read("z/é")] }) as never);
    expect(await replay(run, { ...options, tools: [another] })).toMatchObject({
      divergence: {
        seq: 1,
        difference: { path: "/arguments/path", expected: '"a"', actual: '"z/é"' },
        reason: 'The tool made another request. At /arguments/path the run has "a", the replay "z/é".',
      },
    });
    const more = other(async (input, context) => {
      await reader.code.execute(input, context);
      return context.files.read("z") as never;
    });
    expect(await replay(run, { ...options, tools: [more] })).toMatchObject({
      divergence: { reason: "The tool made one request more." },
    });
    const less = other(async () => ({ texts: [], order: [], now: 0, random: 0 }));
    expect(await replay(run, { ...options, tools: [less] })).toMatchObject({
      divergence: { reason: "The tool did not make this request." },
    });
    const clock = new FakeClock();
    const waiting = replay(run, { ...options, clock, tools: [other(() => new Promise(() => {}))] });
    await clock.advance(10_000);
    expect(await waiting).toMatchObject({ divergence: { reason: "The call did not end." } });
  });

  it("is executed by a changed tool that stands in for its own, up to what that does otherwise", async () => {
    const { run } = await recorded([["a", "b"]]);
    const [own] = options.tools;
    type Execute = (typeof reader)["code"]["execute"];
    const changed = (execute: Execute, name = "reader") => ({
      ...own!,
      hash: `blake3:${"1".repeat(64)}`,
      manifest: { ...own!.manifest, name, version: "2.0.0" },
      body: { source: "inline", code: { execute } as never } as const,
    });
    const refactored = changed(async (input, context) => reader.code.execute(input, context));
    expect(await replay(run, { ...options, tools: [], instead: [refactored] })).toEqual({ ok: true, calls: 1 });
    const later = changed(async (input, context) => {
      const given = (await reader.code.execute(input, context)) as { readonly now: number };
      return { ...given, now: given.now + 1 };
    });
    // Its own is there too.
    expect(await replay(run, { ...options, instead: [later] })).toMatchObject({
      kind: "diverged",
      divergence: { seq: run.entries.length - 1, difference: { path: "/output/now" } },
    });
    const another = changed(reader.code.execute, "other");
    expect(await replay(run, { ...options, tools: [], instead: [another] })).toMatchObject({
      kind: "refused",
      reason: expect.stringMatching(/is not among the tools/),
    });
  });

  it("is refused whole before anything runs", async () => {
    const { run } = await recorded([["a"], ["b"]]);
    let runs = 0;
    const tools = [
      { ...options.tools[0]!, body: { source: "inline", code: { execute: () => ++runs } as never } as const },
    ];
    const last = run.entries.findLastIndex(({ kind }) => kind === "call");
    const call = run.entries[last]!;
    const bad: [RunEntry[], RegExp][] = [
      [run.entries.with(last, { ...call, toolHash: `blake3:${"1".repeat(64)}` } as RunEntry), /is not among the tools/],
      [run.entries.with(last, { ...call, real: ["clock"] } as RunEntry), /real clock/],
      [run.entries.toSpliced(last, 1), /no beginning/],
      [[...run.entries, call], /twice/],
      [run.entries.filter(({ kind }) => kind !== "outcome"), /no end/],
      [run.entries.map((entry) => (entry.kind === "reply" ? { ...entry, body: "%" } : entry)), /base64/],
    ];
    for (const [entries, reason] of bad)
      expect(await replay({ entries }, { ...options, tools })).toMatchObject({
        ok: false,
        kind: "refused",
        reason: expect.stringMatching(reason),
      });
    expect(runs).toBe(0);
  });
});
