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

async function oneCall(kernel: Kernel, draw: () => number): Promise<void> {
  const [deed, value] = deeds[Math.floor(draw() * deeds.length)]!;
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
      bounds: { timeoutMs: 20 + Math.floor(draw() * 80) },
      onEvent: (event) => events.push(event),
    },
  );
  expectEnd(events, result.callId);
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
): Promise<void> {
  const draw = chance(seed);
  const sink = memorySink(1_000_000);
  const kernel = await createKernel({ host, policy, sink, brokers: [chaoticBroker(draw)], cache: false });
  expect(kernel.register(subject)).toMatchObject({ ok: true });
  for (let round = 0; round < rounds; round++)
    await Promise.all(Array.from({ length: 1 + Math.floor(draw() * 4) }, () => oneCall(kernel, draw)));
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
}
