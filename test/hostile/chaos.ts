import {
  type AuditEvent,
  type Broker,
  createKernel,
  type IsolateHost,
  type Kernel,
  memorySink,
  terminalTypes,
  verifyChain,
} from "@keyhole/kernel";
import { expect } from "vitest";
import bystander from "../contract/tools/bystander.ts?tool";
import subject from "../contract/tools/subject.ts?tool";

/** Numbers in [0, 1), the same for the same seed (Lehmer, 31 bits). */
function chance(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 48_271) % 2_147_483_647;
    return state / 2_147_483_647;
  };
}

const deeds = [
  ["echo", 1],
  ["echo", { a: [1, 2, 3] }],
  ["loop", null],
  ["loop in promises", null],
  ["hang", null],
  ["hang until told", null],
  ["throw", null],
  ["throw late", null],
  ["throw a proxy", null],
  ["cycle", null],
  ["flood the log", null],
  ["flood the progress", null],
  ["speak after the end", null],
  ["read", "granted"],
  ["read", "granted"],
  ["read and catch", "denied"],
  ["read a lot at once", 40],
  ["spoil the prototypes", null],
] as const;

/** Ends at its bound and not at its deadline, where the host has such a bound. */
const memoryBytes = 16 << 20;

/** Serves files as badly as a broker can. */
function chaoticBroker(draw: () => number): Broker {
  const reply = { ok: true, value: null, body: new Uint8Array(1) } as const;
  const ways: readonly (() => ReturnType<Broker["serve"]>)[] = [
    async () => reply,
    async () => reply,
    async () => ({ ok: false, error: { code: "UNAVAILABLE", message: "The disk is full.", hint: "" } }),
    () => Promise.reject(new Error("no")),
    () => {
      throw new Error("no");
    },
    () => new Promise(() => {}),
    async () => ({ ...reply, body: new Uint8Array(26_000_000) }),
    async () => ({ ok: false, error: { code: "NO_CODE", message: "\ud800", hint: "" } }) as never,
    () => new Promise((resolve) => setTimeout(() => resolve(reply), draw() * 100)),
    async () => null as never,
  ];
  return {
    kinds: ["fs.read"],
    needs: () => ({ ok: true, needs: [{ kind: "fs.read", path: "granted" }] }),
    serve: () => ways[Math.floor(draw() * ways.length)]!(),
  };
}

const policy = {
  version: "1",
  posture: "permissive",
  grants: [{ tool: "*", capability: { kind: "fs.read", paths: ["**"] } }],
} as const;

async function oneCall(kernel: Kernel, draw: () => number, boundsMemory: boolean): Promise<string> {
  const [drawn, value] = deeds[Math.floor(draw() * deeds.length)]!;
  const eats = boundsMemory && draw() < 0.05;
  const deed = eats ? "eat memory" : drawn;
  const cancel = new AbortController();
  if (draw() < 0.3) setTimeout(() => cancel.abort(), draw() * 60);
  const events: AuditEvent[] = [];
  const result = await kernel.call(
    "subject",
    { deed, value },
    {
      caller: `caller ${Math.floor(draw() * 50)}`,
      sessionId: `session ${Math.floor(draw() * 3)}`,
      signal: cancel.signal,
      waitMs: draw() < 0.5 ? 1_000 : 0,
      // To fill its memory takes longer than the other deeds may.
      bounds: eats ? { timeoutMs: 5_000, memoryBytes } : { timeoutMs: 20 + Math.floor(draw() * 80) },
      onEvent: (event) => events.push(event),
    },
  );
  expectEnd(events, result.callId);
  return result.ok ? "ok" : result.error.code;
}

/** One more of the deed that a busy machine may have kept from its end: by its bound, or by its deadline. */
async function endOfEating(kernel: Kernel): Promise<string> {
  const bounds = { timeoutMs: 5_000, memoryBytes };
  const result = await kernel.call("subject", { deed: "eat memory", value: null }, { caller: "glutton", bounds });
  const end = result.ok ? "ok" : result.error.code;
  expect(["OUT_OF_MEMORY", "TIMEOUT"]).toContain(end);
  return `${end} at the end`;
}

/** What a round of calls of a tool beside it costs: of so many calls, the time that 99 in 100 keep within. */
async function p99Ms(kernel: Kernel, calls: number): Promise<number> {
  const times: number[] = [];
  for (let i = 0; i < calls; i++) {
    const startedMs = performance.now();
    const result = await kernel.call("bystander", { message: "x" }, { caller: "bystander", sessionId: "s" });
    expect(result.ok ? "ok" : result.error).toBe("ok");
    times.push(performance.now() - startedMs);
    // Beside the others, and not one more flood.
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  return times.toSorted((a, b) => a - b)[Math.ceil(times.length * 0.99) - 1] ?? 0;
}

/** What a run of chaos saw. Times are for people: no test depends on them. */
export interface ChaosReport {
  readonly calls: number;
  /** How the calls ended, by code. */
  readonly ends: Readonly<Record<string, number>>;
  /** Of another tool, before anything else ran, and while all of it did. */
  readonly quietP99Ms: number;
  readonly chaosP99Ms: number;
}

/** One end, after which nothing of the call is recorded but what a broker was still doing then: that it happened must not be hidden. */
function expectEnd(events: readonly AuditEvent[], callId: string): void {
  const end = events.findIndex(({ type }) => terminalTypes.includes(type));
  const rest = events.slice(end + 1).filter(({ type }) => type !== "capability.used");
  expect([end >= 0, rest], callId).toEqual([true, []]);
}

/** The log is whole, and every call in it has one end. */
async function expectWholeLog(kernel: Kernel): Promise<void> {
  const log = await kernel.audit.read(0, 1_000_000);
  expect(verifyChain(log)).toMatchObject({ ok: true });
  const byCall = Map.groupBy(log, ({ callId }) => callId);
  for (const [callId, events] of byCall) if (callId !== null) expectEnd(events, callId);
}

/**
 * Rounds of calls that loop, hang, throw, flood and are cancelled at any moment, over a broker that fails in every way. Each call ends once; at the end
 * every slot is back, and the log is whole. The caller looks for what the host left behind.
 */
export async function chaos(
  host: IsolateHost,
  { seed, rounds }: { readonly seed: number; readonly rounds: number },
): Promise<ChaosReport> {
  const draw = chance(seed);
  const sink = memorySink(1_000_000);
  const kernel = await createKernel({ host, policy, sink, brokers: [chaoticBroker(draw)], cache: false });
  expect(kernel.register(subject)).toMatchObject({ ok: true });
  expect(kernel.register(bystander)).toMatchObject({ ok: true });
  const boundsMemory = typeof host.enforces !== "function" && host.enforces.includes("memoryBytes");
  const quietP99Ms = await p99Ms(kernel, 200);
  const ends = new Map<string, number>();
  let isOver = false;
  const beside = (async (): Promise<number> => {
    let worst = 0;
    // In blocks, the worst of which counts.
    while (!isOver) worst = Math.max(worst, await p99Ms(kernel, 100));
    return worst;
  })();
  for (let round = 0; round < rounds; round++) {
    const calls = Array.from({ length: 1 + Math.floor(draw() * 4) }, () => oneCall(kernel, draw, boundsMemory));
    for (const end of await Promise.all(calls)) ends.set(end, (ends.get(end) ?? 0) + 1);
  }
  if (boundsMemory) ends.set(await endOfEating(kernel), 1);
  isOver = true;
  const chaosP99Ms = await beside;
  // As many as may run at the same time, all at once: no slot is missing.
  const all = await Promise.all(
    Array.from({ length: 4 }, (_, i) =>
      kernel.call("subject", { deed: "echo", value: i }, { caller: "after", sessionId: `${i}` }),
    ),
  );
  expect(all.map((result) => (result.ok ? result.data : result.error))).toEqual([0, 1, 2, 3]);
  await expectWholeLog(kernel);
  await kernel.close();
  await host.close();
  const calls = [...ends.values()].reduce((sum, each) => sum + each, 0);
  return { calls, ends: Object.fromEntries(ends), quietP99Ms, chaosP99Ms };
}
