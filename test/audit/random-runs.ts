import { type Clock, createKernel, defineTool, systemClock, type Tool, type ToolContext } from "@keyhole/kernel";
import { inlineHost } from "@keyhole/kernel/inline";
import { lines } from "@keyhole/kernel/audit";
import { readRun, recordingHost, replay, type RunEntry, writeRun } from "@keyhole/kernel/replay";
import { runPipeline } from "@keyhole/kernel/pipeline";
import { filesBroker, memoryStore } from "@keyhole/worker-host/brokers/files";
import { netBroker } from "@keyhole/worker-host/brokers/net";
import { FakeClock } from "../support/fake-clock.ts";
import { registered } from "../support/registered.ts";
import { randomFrom } from "../support/random.ts";

/*
 * Recorded runs of random tools, replayed. A tool is a random program over what a context has: the network, files, clock, chance, failures, several of them at the
 * same time; its calls overlap. The world answers late, out of order, wrongly, and never twice the same.
 */

type Random = () => number;

const upTo = (random: Random, limit: number): number => Math.floor(random() * limit);
const oneOf = <Item>(random: Random, items: readonly Item[]): Item => items[upTo(random, items.length)]!;

type Step = (context: ToolContext, seen: unknown[]) => unknown;

const paths = ["a.txt", "b/c.txt", "b/d.bin", "missing.txt", "../outside"] as const;
const urls = [
  "https://one.example.com/",
  "https://two.example.com/x?y=1",
  "https://denied.test/",
  "ftp://one.example.com/",
] as const;

function stepOf(random: Random, depth: number): Step {
  const url = oneOf(random, urls);
  const path = oneOf(random, paths);
  const text = "é".repeat(upTo(random, 40));
  const init = random() < 0.5 ? {} : { headers: { "x-request-id": "n" } };
  const kinds: readonly (() => Step)[] = [
    () =>
      async ({ fetch }) => {
        const response = await fetch(url, init);
        return [response.status, response.headers.get("x-turn"), await response.text()];
      },
    () =>
      async ({ fetch }) =>
        (await fetch(url, { method: "POST", body: text })).status,
    () =>
      async ({ files }) => [...(await files.read(path))],
    () =>
      ({ files }) =>
        files.write(path, text),
    () =>
      ({ files }) =>
        files.list("b"),
    () =>
      ({ files }) =>
        files.remove(path),
    () =>
      ({ now }) =>
        now(),
    () => (context) => [context.random(), context.random()],
    () => (_, seen) => seen.length,
    () => () => {
      throw new RangeError(`on purpose ${text.length}`);
    },
    () => {
      const steps = programOf(random, depth + 1);
      return (context, seen) => Promise.all(steps.map((step) => attempt(step, context, seen)));
    },
    () => {
      const steps = programOf(random, depth + 1);
      return (context, seen) => Promise.race(steps.map((step) => attempt(step, context, seen)));
    },
  ];
  return oneOf(random, depth > 1 ? kinds.slice(0, -2) : kinds)();
}

function programOf(random: Random, depth = 0): readonly Step[] {
  return Array.from({ length: 1 + upTo(random, 4) }, () => stepOf(random, depth));
}

/** What a step gave or threw, noted in the order in which it happened. */
async function attempt(step: Step, context: ToolContext, seen: unknown[]): Promise<unknown> {
  let what: unknown;
  try {
    what = (await step(context, seen)) ?? null;
  } catch (error) {
    what = error instanceof Error ? `${error.name}: ${error.message}` : "threw";
  }
  seen.push(what);
  return what;
}

function toolOf(random: Random, number: number): Tool<never, unknown> {
  const program = programOf(random);
  const fails = random() < 0.1;
  /** Lets a failure of the world pass, so that it is tried again. */
  const isRestless = random() < 0.3;
  const callsOther = random() < 0.3;
  return defineTool({
    name: `tool_${number}`,
    version: "1.0.0",
    description: "A random program.",
    determinism: "external",
    effects: ["net.read", "net.write", "fs.read", "fs.write"],
    idempotent: isRestless,
    capabilities: [
      { kind: "tool.call", tools: ["*"] },
      { kind: "net.read", hosts: ["*.example.com"] },
      { kind: "net.write", hosts: ["*.example.com"] },
      { kind: "fs.read", paths: ["**"] },
      { kind: "fs.write", paths: ["**"] },
    ],
    input: { type: "object" },
    output: { kind: "json" },
    execute: async (_, context) => {
      const seen: unknown[] = [];
      for (const step of program) await attempt(step, context, seen);
      if (isRestless) seen.push((await context.fetch("https://one.example.com/restless")).status);
      if (callsOther) seen.push(await Promise.all([1, 2].map((n) => context.tools.call("leaf", { n }))));
      if (fails) throw new Error(JSON.stringify(seen).slice(0, 500));
      return seen as never;
    },
  });
}

/** A network that never answers the same twice, late, and sometimes not at all. */
function restlessFetch(random: Random, count: () => void): (url: string) => Promise<Response> {
  let turn = 0;
  return async () => {
    count();
    const own = ++turn;
    for (let i = upTo(random, 6); i > 0; i--) await Promise.resolve();
    if (random() < 0.15) throw new TypeError("connection reset");
    const status = oneOf(random, [200, 200, 404, 500]);
    return new Response(`turn ${own} ${"x".repeat(upTo(random, 200))}`, { status, headers: { "x-turn": String(own) } });
  };
}

/** Called from within, and in pipelines. */
const leaf = defineTool({
  name: "leaf",
  version: "1.0.0",
  description: "Counts, by chance.",
  determinism: "seeded",
  bounds: { concurrency: 64 },
  input: { type: "object" },
  output: { kind: "json" },
  execute: (input, { random }) => ({ input: input as never, drawn: random() }),
});

/** A pause before the next attempt is over at once; deadlines never come. */
function hastyClock(): Clock {
  const clock = new FakeClock();
  return {
    now: () => clock.now(),
    monotonicMs: () => clock.monotonicMs(),
    after: (delayMs, callback) => (delayMs < 2_000 ? systemClock.after(0, callback) : clock.after(delayMs, callback)),
  };
}

const policy = {
  version: "1",
  posture: "permissive",
  grants: ["net.read", "net.write"]
    .map((kind) => ({ tool: "*", capability: { kind, hosts: ["*.example.com"] } }))
    .concat([{ tool: "*", capability: { kind: "tool.call", tools: ["*"] } }] as never)
    .concat(["fs.read", "fs.write"].map((kind) => ({ tool: "*", capability: { kind, paths: ["**"] } })) as never),
};

export interface Outcome {
  /** What went wrong; `undefined` where the replay gave the same bytes and asked nobody. */
  readonly fault: string | undefined;
  readonly requests: number;
  readonly failed: number;
  /** Attempts beyond the first, and calls from within. */
  readonly retried: number;
  readonly nested: number;
}

/** Records one run, writes and reads it as a file, and replays it. */
async function recordAndReplay(seed: number): Promise<Outcome> {
  const random = randomFrom(seed);
  let asked = 0;
  const entries: RunEntry[] = [];
  const kernel = await createKernel({
    host: recordingHost(inlineHost(), (entry) => entries.push(entry)),
    policy,
    brokers: [netBroker({ fetch: restlessFetch(random, () => asked++) }), countedFiles(() => asked++)],
    clock: hastyClock(),
  });
  const tools = Array.from({ length: 1 + upTo(random, 2) }, (_, i) => toolOf(random, i));
  for (const tool of [...tools, leaf]) kernel.registerTrusted(tool);
  const calls = Array.from({ length: 1 + upTo(random, 3) }, () =>
    kernel.call(`tool_${upTo(random, tools.length)}`, {}),
  );
  const inARow = runPipeline(kernel, [
    { id: "first", tool: "leaf", input: { seed } },
    { id: "second", tool: "leaf", input: { of: { $from: "first#/drawn" } } },
  ]);
  const results = await Promise.all(calls);
  const row = await inARow;
  await kernel.close();
  const requests = asked;
  if (!row.ok) return { fault: row.message, requests, failed: 0, retried: 0, nested: 0 };

  const bytes = new TextEncoder().encode(writeRun({ entries }));
  const read = await readRun(lines([bytes]));
  if (!read.ok) return { fault: `line ${read.line}: ${read.reason}`, requests, failed: 0, retried: 0, nested: 0 };
  const replayed = await replay(read.run, {
    host: inlineHost(),
    tools: [...tools, leaf].map((each) => registered(each)),
    clock: systemClock,
    // Hundreds of runs share a thread that may be busy: the deadline only ends a run that hangs.
    timeoutMs: 600_000,
  });
  const fault = replayed.ok
    ? asked === requests
      ? undefined
      : `${asked - requests} requests left the replay`
    : replayed.kind === "refused"
      ? replayed.reason
      : JSON.stringify(replayed.divergence);
  const begun = entries.filter((entry) => entry.kind === "call");
  const retried = begun.filter(({ attempt = 1 }) => attempt > 1).length;
  const nested = begun.filter(({ tool }) => tool === "leaf@1.0.0").length - 2;
  return { fault, requests, failed: results.filter(({ ok }) => !ok).length, retried, nested };
}

function countedFiles(count: () => void): ReturnType<typeof filesBroker> {
  const broker = filesBroker(memoryStore());
  return {
    ...broker,
    serve: (request, session) => {
      count();
      return broker.serve(request, session);
    },
  };
}

/** Many runs, some at the same time: most of a run is waiting for turns of the event loop. */
export async function manyRuns(
  count: number,
  seed: number,
): Promise<Omit<Outcome, "fault"> & { readonly faults: string[] }> {
  const faults: string[] = [];
  let [next, requests, failed, retried, nested] = [0, 0, 0, 0, 0];
  const worker = async (): Promise<void> => {
    while (next < count) {
      const own = seed + next++;
      const outcome = await recordAndReplay(own);
      requests += outcome.requests;
      failed += outcome.failed;
      retried += outcome.retried;
      nested += outcome.nested;
      if (outcome.fault !== undefined) faults.push(`seed ${own}: ${outcome.fault}`);
    }
  };
  await Promise.all(Array.from({ length: 64 }, worker));
  return { faults, requests, failed, retried, nested };
}
