import {
  type Broker,
  type Clock,
  createKernel,
  type IsolateHost,
  type RegisteredTool,
  systemClock,
} from "@keyhole/kernel";
import { fsRead } from "@keyhole/kernel/families";
import { inlineHost } from "@keyhole/kernel/inline";
import { runPipeline } from "@keyhole/kernel/pipeline";
import { inspect, readRun, recordingHost, replay, rerun, type RunEntry, writeRun } from "@keyhole/kernel/replay";
import { nodeHost } from "@keyhole/worker-host/node";
import { calculator, runCode } from "@keyhole/worker-host/tools";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { FakeClock } from "../support/fake-clock.ts";
import { echo, openPolicy, toolOf } from "../support/kernel.ts";
import { registered } from "../support/registered.ts";

/** Written to a file and read again. */
async function saved(entries: readonly RunEntry[]): Promise<readonly RunEntry[]> {
  const read = await readRun(writeRun({ entries }).split("\n"));
  if (!read.ok) throw new Error(`line ${read.line}: ${read.reason}`);
  return read.run.entries;
}

const reader = toolOf(
  async ({ path }: { path: string }, { files }: { files: { read(path: string): Promise<Uint8Array> } }) =>
    new TextDecoder().decode(await files.read(path)),
  {
    name: "reader",
    determinism: "external",
    effects: ["fs.read"],
    idempotent: true,
    capabilities: [{ kind: "fs.read", paths: ["**"] }],
    output: { kind: "text" },
  },
);
const grants = [{ tool: "reader", capability: { kind: "fs.read", paths: ["**"] } }];

/** Away for the first requests, there for the others. */
function flaky(failures: number): Broker & { served: number } {
  const broker = {
    served: 0,
    families: [fsRead],
    needs: ({ arguments: asked }: { arguments: { readonly path?: unknown } }) =>
      ({ ok: true, needs: [{ kind: "fs.read", path: String(asked.path) }] }) as const,
    serve: async () =>
      ++broker.served > failures
        ? ({ ok: true, value: null, body: new TextEncoder().encode(`text ${broker.served}`) } as const)
        : ({ ok: false, error: { code: "UNAVAILABLE", message: "away", hint: "" } } as const),
  };
  return broker;
}

/** A pause before the next attempt is over at once. */
const hasty: Clock = {
  ...systemClock,
  after: (delayMs, callback, how) => systemClock.after(delayMs < 2_000 ? 0 : delayMs, callback, how),
};

describe("a call that was tried again", () => {
  async function record(failures: number) {
    const entries: RunEntry[] = [];
    const files = flaky(failures);
    const host = recordingHost(inlineHost(), (entry) => entries.push(entry));
    const policy = { ...openPolicy, grants };
    const kernel = await createKernel({ host, policy, brokers: [files], clock: hasty });
    kernel.registerTrusted(reader);
    const result = await kernel.call("reader", { path: "a" });
    return { entries, result, files };
  }

  it("is replayed attempt by attempt", async () => {
    const { entries, result, files } = await record(2);
    expect(result).toMatchObject({ ok: true, data: "text 3", meta: { attempts: 3 } });
    const run = { entries: await saved(entries) };
    expect(inspect(run).map(({ attempt, outcome }) => [attempt, outcome?.kind])).toEqual([
      [1, "threw"],
      [2, "threw"],
      [3, "returned"],
    ]);
    expect(await replay(run, { host: inlineHost(), tools: [registered(reader)], clock: systemClock })).toEqual({
      ok: true,
      calls: 3,
    });
    expect(files.served).toBe(3);
  });

  it("diverges in the attempt that was changed", async () => {
    const { entries } = await record(1);
    const seq = entries.findLastIndex(({ kind }) => kind === "reply");
    const changed = entries.with(seq, { ...entries[seq]!, body: "AAAA" } as RunEntry);
    const options = { host: inlineHost(), tools: [registered(reader)], clock: systemClock };
    expect(await replay({ entries: changed }, options)).toMatchObject({
      kind: "diverged",
      divergence: { seq: entries.length - 1 },
    });
  });

  it("is refused where an attempt is missing, doubled, or before its time", async () => {
    const { entries } = await record(2);
    const second = entries.findIndex((entry) => entry.kind === "call" && entry.attempt === 2);
    const third = entries.findIndex((entry) => entry.kind === "call" && entry.attempt === 3);
    const faults: [readonly RunEntry[], RegExp][] = [
      [entries.toSpliced(second, third - second), /does not have attempt 2/],
      [[...entries, ...entries.slice(third)], /twice/],
      [entries.slice(second), /does not have attempt 1/],
      [entries.toSpliced(second - 1, 1), /twice/],
    ];
    for (const [changed, reason] of faults) {
      expect(await readRun(writeRun({ entries: changed }).split("\n"))).toMatchObject({
        ok: false,
        reason: expect.stringMatching(reason),
      });
    }
  });
});

describe("a program that was recorded", () => {
  let host: IsolateHost;
  beforeAll(() => {
    host = nodeHost();
  });
  afterAll(() => host.close());
  const policy = {
    ...openPolicy,
    grants: [{ tool: "run_code", capability: { kind: "tool.call", tools: ["calculator"] } }],
  };
  const code = `
    const sums = await Promise.all([1, 2].map((n) => tools.calculator({ expression: n + "+1" })));
    return sums.length + input.more;
  `;

  async function record(): Promise<readonly RunEntry[]> {
    const entries: RunEntry[] = [];
    const kernel = await createKernel({ host: recordingHost(host, (entry) => entries.push(entry)), policy });
    for (const tool of [runCode, calculator]) kernel.register(tool);
    const result = await kernel.call("run_code", { code, input: { more: 40 } });
    expect(result).toMatchObject({ ok: true, data: { result: 42 } });
    return saved(entries);
  }
  const tools = [registered(runCode), registered(calculator)];

  it("is put into its package again, and gives the same bytes", async () => {
    const entries = await record();
    const call = entries.find((entry) => entry.kind === "call" && entry.tool.startsWith("run_code"));
    expect(call).toMatchObject({ packageHash: runCode.hash });
    expect(call).not.toMatchObject({ toolHash: runCode.hash });
    expect(await replay({ entries }, { host, tools, clock: systemClock })).toEqual({ ok: true, calls: 3 });
  });

  it("is refused with another package, with another program, and where the tool takes none; nothing is opened", async () => {
    const entries = await record();
    const at = entries.findIndex((entry) => entry.kind === "call" && entry.tool.startsWith("run_code"));
    const call = entries[at] as Extract<RunEntry, { kind: "call" }>;
    const watched: IsolateHost = { ...host, sources: host.sources, open: () => Promise.reject(new Error("opened")) };
    const other = entries.with(at, { ...call, inputText: call.inputText.replace("+1", "+2") });
    const noProgram = entries.with(at, { ...call, packageHash: calculator.hash });
    const noInput = entries.with(at, { ...call, inputText: "7" });
    const { packageHash: _, ...bare } = call;
    const cases: [readonly RunEntry[], readonly RegisteredTool[], RegExp][] = [
      [entries, [registered(calculator)], /run_code@\S+ with hash blake3:\S+ is not among the tools/],
      [other, tools, /do not make what ran/],
      [noProgram, tools, /do not make what ran/],
      [noInput, tools, /do not make what ran/],
      [entries.with(at, bare), tools, /is not among the tools/],
    ];
    for (const [changed, given, reason] of cases) {
      expect(await replay({ entries: changed }, { host: watched, tools: given, clock: systemClock })).toMatchObject({
        ok: false,
        kind: "refused",
        callId: call.callId,
        reason: expect.stringMatching(reason),
      });
    }
  });
});

describe("a pipeline that was recorded", () => {
  it("is replayed step by step, tried again or not", async () => {
    const entries: RunEntry[] = [];
    const files = flaky(1);
    const measure = toolOf(({ text }: { text: string }) => text.length, { name: "measure" });
    const kernel = await createKernel({
      host: recordingHost(inlineHost(), (entry) => entries.push(entry)),
      policy: { ...openPolicy, grants },
      brokers: [files],
      clock: hasty,
    });
    for (const tool of [reader, measure]) kernel.registerTrusted(tool);
    const done = await runPipeline(kernel, [
      { id: "read", tool: "reader", input: { path: "a" } },
      { id: "measured", tool: "measure", input: { text: { $from: "read#" } } },
    ]);
    expect(done).toMatchObject({ ok: true, data: 6 });
    const run = { entries: await saved(entries) };
    const tools = [registered(reader), registered(measure)];
    expect(await replay(run, { host: inlineHost(), tools, clock: systemClock })).toEqual({ ok: true, calls: 3 });
    expect(files.served).toBe(2);
  });
});

describe("the verbs", () => {
  async function record(served = 0) {
    const entries: RunEntry[] = [];
    const files = flaky(0);
    files.served = served;
    const kernel = await createKernel({
      host: recordingHost(inlineHost(), (entry) => entries.push(entry)),
      policy: { ...openPolicy, grants },
      brokers: [files],
    });
    kernel.registerTrusted(reader);
    const result = await kernel.call("reader", { path: "a" });
    return { kernel, entries, result };
  }

  it("inspect reads what was given, asked, answered and returned", async () => {
    const { entries, result } = await record();
    expect(inspect({ entries })).toEqual([
      {
        callId: result.callId,
        attempt: 1,
        tool: "reader@1.0.0",
        toolHash: registered(reader).hash,
        input: { path: "a" },
        sessionId: expect.any(String) as string,
        startedAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
        requests: [
          {
            request: { kind: "fs.read", operation: "read", arguments: { path: "a" }, body: null },
            reply: { ok: true, value: null },
          },
        ],
        outcome: { kind: "returned", result: { form: "text", text: "text 1" } },
      },
    ]);
    // Of a run that is none it says what is there.
    expect(inspect({ entries: entries.slice(1) })).toEqual([]);
    expect(inspect({ entries: entries.slice(0, 2) })).toMatchObject([
      { requests: [{ reply: null }], outcome: undefined },
    ]);
  });

  it("inspect says when a call was made, also where its tool saw no time", async () => {
    const entries: RunEntry[] = [];
    const clock = new FakeClock(Date.UTC(2026, 1, 3));
    const kernel = await createKernel({
      host: recordingHost(inlineHost(), (entry) => entries.push(entry)),
      policy: openPolicy,
      clock,
    });
    kernel.registerTrusted(echo);
    await kernel.call("echo", { message: "x" });
    expect(entries[0]).toMatchObject({ nowMs: 0 });
    expect(inspect({ entries })).toMatchObject([{ startedAt: "2026-02-03T00:00:00.000Z" }]);
    const elsewhere = entries.map((entry) => ({ ...entry, callId: "a" }));
    expect(inspect({ entries: elsewhere })).toMatchObject([{ startedAt: "1970-01-01T00:00:00.000Z" }]);
  });

  it("rerun asks the world of today, and the log leads back to the old call", async () => {
    const { entries } = await record();
    const today = await record(6);
    const [old] = inspect({ entries });
    const result = await rerun(today.kernel, old!, { caller: "ada" });
    expect(result).toMatchObject({ ok: true, data: "text 8", tool: "reader@1.0.0" });
    const invoked = (await today.kernel.audit.read()).find(
      (event) => event.type === "call.invoked" && event.callId === result.callId,
    );
    expect(invoked).toMatchObject({ payload: { correlationId: old!.callId, caller: "ada" } });
    expect(await rerun(today.kernel, { ...old!, tool: "reader@2.0.0" })).toMatchObject({
      ok: false,
      error: { code: "TOOL_NOT_FOUND" },
    });
  });
});
