import { hashJson, type Broker, createKernel, defineTool, systemClock } from "@keyhole/kernel";
import { inlineHost } from "@keyhole/kernel/inline";
import { lines } from "@keyhole/kernel/audit";
import { readRun, recordingHost, replay, type RunEntry, writeRun } from "@keyhole/kernel/replay";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { FakeClock } from "../support/fake-clock.ts";
import { manyRuns } from "./random-runs.ts";
import { registered } from "../support/registered.ts";
import { sampled } from "../support/sampled.ts";
import { sized } from "../support/size.ts";

/** Reads files, several at the same time, and mixes in time and chance. */
const reader = defineTool({
  name: "reader",
  version: "1.0.0",
  description: "Reads files.",
  determinism: "external",
  effects: ["fs.read"],
  capabilities: [{ kind: "fs.read", paths: ["**"] }],
  input: {
    type: "object",
    properties: { paths: { type: "array", items: { type: "string" } } },
    required: ["paths"],
  } as const,
  output: { kind: "json" },
  execute: async ({ paths }, { files, now, random }) => {
    const order: string[] = [];
    const texts = await Promise.all(
      paths.map(async (path) => {
        const bytes = await files.read(path).catch((error: Error) => new TextEncoder().encode(error.message));
        order.push(path);
        return new TextDecoder().decode(bytes);
      }),
    );
    return { texts, order, now: now(), random: random() };
  },
});

/** Answers out of order, and another text each time. */
function restlessFiles(): Broker & { served: number } {
  const broker = {
    served: 0,
    kinds: ["fs.read"] as const,
    needs: ({ arguments: asked }: { arguments: { readonly path?: unknown } }) =>
      ({ ok: true, needs: [{ kind: "fs.read", path: String(asked.path) }] }) as const,
    serve: async () => {
      const turn = ++broker.served;
      for (let i = 0; i < (turn * 7) % 11; i++) await Promise.resolve();
      if (turn % 5 === 0)
        return { ok: false, error: { code: "UNAVAILABLE", message: `gone ${turn}`, hint: "" } } as const;
      return { ok: true, value: null, body: new TextEncoder().encode(`text ${turn}`) } as const;
    },
  };
  return broker;
}

const policy = {
  version: "1",
  posture: "permissive",
  grants: [{ tool: "reader", capability: { kind: "fs.read", paths: ["**"] } }],
};

async function recorded(calls: readonly (readonly string[])[]) {
  const entries: RunEntry[] = [];
  const files = restlessFiles();
  const host = recordingHost(inlineHost(), (entry) => entries.push(entry));
  const kernel = await createKernel({ host, policy, brokers: [files], clock: new FakeClock() });
  kernel.registerTrusted(reader);
  const results = await Promise.all(calls.map((paths) => kernel.call("reader", { paths: [...paths] })));
  expect(results.every(({ ok }) => ok)).toBe(true);
  await kernel.close();
  return { run: { entries }, files };
}

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
    const runs = sized(200, 1_000);
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
        reason: expect.stringMatching(/^The tool asked for something else\./),
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
            /^The tool gave something else\. At \/output\/\S+ the run has .*, the replay .*\.$/,
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
        reason: 'The tool asked for something else. At /arguments/path the run has "a", the replay "z/é".',
      },
    });
    const more = other(async (input, context) => {
      await reader.code.execute(input, context);
      return context.files.read("z") as never;
    });
    expect(await replay(run, { ...options, tools: [more] })).toMatchObject({
      divergence: { reason: "The tool asked once more." },
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
    ["joined with another", (list) => [...list.slice(0, -1), ...list], /behind the end/],
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
      reason: expect.stringMatching(/answered twice/),
    });
  });
});
