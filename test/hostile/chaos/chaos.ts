import {
  type AuditEvent,
  type CallOptions,
  createKernel,
  type IsolateHost,
  type Kernel,
  memorySink,
  terminalTypes,
  verifyChain,
} from "@keyhole/kernel";
import { expect } from "vitest";
import bystander from "keyhole:../../contract/tools/bystander.ts";
import subject from "keyhole:../../contract/tools/subject.ts";
import { granting } from "../../support/kernel.ts";
import { randomFrom } from "../../support/random.ts";
import { chaoticBroker } from "./broker.ts";
import { type End, endlessDeck, type Fault, faultsFor } from "./faults.ts";
import type { ChaosReport } from "./report.ts";
import { bystandersOf, callBystander, type Sampled } from "./waiting.ts";
import { type Witness, witness } from "./witness.ts";

const policy = granting({ kind: "fs.read", paths: ["**"] });

/** More than anything that ends by itself needs on any machine. */
const PATIENT_MS = 120_000;

/** One call that goes wrong, and what it came to. */
interface Trial {
  readonly fault: Fault;
  readonly end: End;
  /** Whether the tool's isolate was given the call. */
  readonly reached: boolean;
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

interface Stage {
  readonly kernel: Kernel;
  readonly watched: Witness;
  readonly draw: () => number;
  readonly trials: Trial[];
}

/** A fault in a session whose isolate is there, so that the fault is what it meets, and not the wait for an isolate. */
async function tryFault(stage: Stage, fault: Fault, lane: number): Promise<void> {
  const { isNew, times = 1 } = fault;
  const caller = `caller ${lane}`;
  if (!isNew) await expectWell(stage.kernel, { caller, sessionId: "one" });
  const sessionId = (): string => (isNew ? `new ${stage.draw()}` : "one");
  await Promise.all(Array.from({ length: times }, () => tryOnce(stage, fault, { caller, sessionId: sessionId() })));
}

async function expectWell(kernel: Kernel, who: CallOptions): Promise<void> {
  const options = { ...who, waitMs: PATIENT_MS, bounds: { timeoutMs: PATIENT_MS } };
  const result = await kernel.call("subject", { deed: "echo", value: "well" }, options);
  expect(result.ok ? result.data : result.error).toBe("well");
}

async function tryOnce({ kernel, watched, draw, trials }: Stage, fault: Fault, who: CallOptions): Promise<void> {
  const { deed, value = null, endless, strike, bounds, ends } = fault;
  const afterMs = 10 + draw() * 90;
  const cancel = new AbortController();
  const events: AuditEvent[] = [];
  let reached = false;
  let stop = strike === "cancel on the way" ? later(afterMs, () => cancel.abort()) : () => {};
  const onReached = (kill: () => void): void => {
    reached = true;
    if (strike === "cancel") stop = later(afterMs, () => cancel.abort());
    if (strike === "kill") stop = later(afterMs, kill);
  };
  const options: CallOptions = {
    ...who,
    signal: cancel.signal,
    waitMs: ends.includes("RATE_LIMITED") ? 0 : PATIENT_MS,
    bounds: { timeoutMs: endless ? Math.ceil(afterMs) : PATIENT_MS, ...bounds },
    onEvent: (event) => {
      if (events.push(event) === 1) watched.onReached(event.callId!, onReached);
    },
  };
  const result = await kernel.call("subject", { deed, value }, options);
  stop();
  expectEnd(events, result.callId);
  trials.push({ fault, end: result.ok ? "ok" : result.error.code, reached });
}

function later(ms: number, work: () => void): () => void {
  const timer = setTimeout(work, ms);
  return () => clearTimeout(timer);
}

/** Between them, the others are watched in quiet. The lanes end apart, which such a number makes one part in fifty. */
const ROUNDS_AT_ONCE = 50;

const unwatched = (): Sampled => ({ stop: async () => [] });

/** As many as may run at the same time, all at once: no slot is missing. */
async function expectEverySlot(kernel: Kernel): Promise<void> {
  const all = await Promise.all(
    Array.from({ length: 4 }, (_, i) =>
      kernel.call("subject", { deed: "echo", value: i }, { caller: "after", sessionId: `${i}` }),
    ),
  );
  expect(all.map((result) => (result.ok ? result.data : result.error))).toEqual([0, 1, 2, 3]);
}

/** Every fault happened, and came to an end that it may come to; and what a deadline or somebody from outside ended was running then. */
function expectEnds(faults: readonly Fault[], trials: readonly Trial[]): void {
  expect(trials.filter(({ fault, end }) => !fault.ends.includes(end))).toEqual([]);
  const missing = faults.filter((fault) => !trials.some((trial) => trial.fault === fault));
  expect(missing).toEqual([]);
  const hit = trials.filter(({ fault: { endless, strike } }) => endless || strike === "cancel" || strike === "kill");
  expect(hit.filter(({ reached }) => !reached)).toEqual([]);
}

export interface ChaosOptions {
  readonly seed: number;
  /** Each is one fault in every lane. Default: as many as bring every fault once. */
  readonly rounds?: number | undefined;
  /** Sessions in which things go wrong at the same time. They do not wait for each other. */
  readonly lanes: number;
  /** Others are watched in quiet as well, which begins so long after what went wrong. Default: they are not. */
  readonly restMs?: number | undefined;
  /** Round trips between two threads of the platform's own. Default: none. */
  readonly bare?: () => Sampled;
}

/**
 * Rounds of calls that loop, hang, throw, flood, eat memory, are cancelled and killed at any moment of their run, over a broker that fails in every way.
 * Each call ends once, in a way that it may end; at the end every slot is back, and the log is whole. The caller looks for what the host left behind.
 */
export async function chaos(
  platform: IsolateHost,
  { seed, rounds, lanes, restMs, bare = unwatched }: ChaosOptions,
): Promise<ChaosReport> {
  const draw = randomFrom(seed);
  const watched = witness(platform);
  const broker = chaoticBroker(draw);
  const sink = memorySink(1_000_000);
  const kernel = await createKernel({ host: watched.host, policy, sink, brokers: [broker], cache: false });
  expect(kernel.register(subject)).toMatchObject({ ok: true });
  expect(kernel.register(bystander)).toMatchObject({ ok: true });
  const { enforces, preempts } = platform;
  const faults = faultsFor(typeof enforces === "function" ? enforces(subject.manifest) : enforces, preempts);
  const stage: Stage = { kernel, watched, draw, trials: [] };
  await callBystander(kernel);
  const bystanders = bystandersOf(kernel, bare, restMs);
  const deal = endlessDeck(faults, draw);
  for (let left = rounds ?? Math.ceil(faults.length / lanes); left > 0; left -= ROUNDS_AT_ONCE) {
    const inLane = async (_: unknown, lane: number): Promise<void> => {
      for (let round = Math.min(left, ROUNDS_AT_ONCE); round > 0; round--) await tryFault(stage, deal(), lane);
    };
    await bystanders.beside(() => Promise.all(Array.from({ length: lanes }, inLane)));
  }

  expectEnds(faults, stage.trials);
  expect(broker.forgotten).toBe(0);
  await expectEverySlot(kernel);
  await expectWholeLog(kernel);
  await kernel.close();
  await platform.close();
  const ends = Object.fromEntries(
    [...Map.groupBy(stage.trials, ({ end }) => end)].map(([end, each]) => [end, each.length]),
  );
  const { tool, bare: threads } = bystanders;
  return { calls: stage.trials.length, ends, tool, bare: threads };
}
