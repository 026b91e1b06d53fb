import { type ApprovalRequest, limits } from "@keyhole/kernel";
import { ApprovalDesk } from "@keyhole/worker-host/approval-desk";
import { expect, it } from "vitest";
import { Limiter } from "../../packages/kernel/src/bounds/limiter.ts";
import { IsolatePool } from "../../packages/kernel/src/isolate/pool/pool.ts";
import type { Owner } from "../../packages/kernel/src/isolate/pool/lease.ts";
import type { RegisteredTool } from "../../packages/kernel/src/tool/package.ts";
import { WaitingCall, WaitingCalls } from "../../packages/mcp/src/server/waiting-calls.ts";
import { backoffOf } from "../support/backoff.ts";
import { FakeClock, settle } from "../support/fake-clock.ts";
import { hostOpening } from "../support/module-host.ts";

// One caller takes all that it gets of a bounded thing, and gives none of it back. Another caller comes afterwards.

/** Takes one for a caller. Whether it has it. */
type Take = (caller: string, n: number) => Promise<boolean>;

const toolSlots = (): Take => {
  const clock = new FakeClock();
  const limiter = new Limiter(clock);
  const bounds = { concurrency: 4, timeoutMs: limits.ceilings.timeoutMs };
  return async (caller, n) => {
    const slot = limiter.reserve({ toolId: "pay@1.0.0", caller, outermostId: `${n}`, bounds });
    return "ok" in slot && slot.ok;
  };
};

const ownerOf = (caller: string, n: number): Owner => ({
  caller,
  sessionId: `${n}`,
  callId: `${caller} ${n}`,
  within: [],
  around: 0,
});

/** Every isolate of the host is in use. */
function places(heldBytes?: (caller: string) => number) {
  const opened: { readonly caller: string; ended: boolean }[] = [];
  let caller = "";
  const host = hostOpening(
    "a host",
    async () => {
      const isolate = { caller, ended: false };
      opened.push(isolate);
      return {
        call: () => Promise.reject(new Error("Nobody calls it.")),
        terminate: () => void (isolate.ended = true),
        ...(heldBytes && { heldBytes: heldBytes(isolate.caller) }),
        get alive() {
          return !isolate.ended;
        },
      };
    },
    { capacity: 20, idleBytes: 100 },
  );
  const pool = new IsolatePool(host, new FakeClock(), { backoff: backoffOf() });
  const tool = { id: "pay@1.0.0", hash: "pay", manifest: { name: "pay" } } as RegisteredTool;
  const lease = async (owner: Owner) => {
    ({ caller } = owner);
    const leased = pool.lease(tool, owner);
    const held = await Promise.race([leased, settle().then(() => undefined)]);
    return held;
  };
  return { lease, opened };
}

const isolates = (): Take => {
  const { lease } = places();
  return async (caller, n) => (await lease(ownerOf(caller, n))) !== undefined;
};

const questions = (): Take => {
  const desk = new ApprovalDesk();
  return async (caller, n) => {
    const question = { approvalId: `${caller} ${n}`, caller } as ApprovalRequest;
    const denied = desk.approver(question, new AbortController().signal);
    return Promise.race([denied.then(() => false), settle().then(() => true)]);
  };
};

const waitingCalls = (): Take => {
  const all = new WaitingCalls(new FakeClock());
  const never = new Promise<never>(() => {});
  return async (caller, n) => {
    const call = new WaitingCall(
      { caller },
      new AbortController(),
      () => never,
      () => never,
      {},
      undefined,
    );
    return all.keep(`${caller} ${n}`, call);
  };
};

it.each([
  ["slots of a tool", 4, toolSlots],
  ["isolates of a host", 20, isolates],
  ["questions at a desk", 1_000, questions],
  ["calls that wait for a person", 1_000, waitingCalls],
])("a caller gets half of the %s, and leaves the next one half of the rest", async (_, most, open) => {
  const take = open();
  const taken = async (caller: string): Promise<number> => {
    let count = 0;
    while (count < most && (await take(caller, count))) count++;
    return count;
  };
  expect([await taken("flood"), await taken("victim"), await take("third", 0)]).toEqual([most / 2, most / 4, true]);
});

it("idle isolates of a caller end no isolate of another, and keep none from its share", async () => {
  const { lease, opened } = places(() => 5);
  const use = async (caller: string, count: number): Promise<void> => {
    const leased = [];
    for (let n = 0; n < count; n++) leased.push(await lease(ownerOf(caller, n)));
    for (const each of leased) each?.release();
    await settle();
  };
  const endedOf = (caller: string): number => opened.filter((each) => each.caller === caller && each.ended).length;
  await use("victim", 4);
  await use("flood", 10);
  for (let n = 10; n < 40; n++) (await lease(ownerOf("flood", n)))?.release();
  expect(endedOf("victim")).toBe(0);
  // Its share again, although isolates of the flood are open.
  for (let n = 0; n < 10; n++) expect(await lease(ownerOf("victim", n))).toBeDefined();
  expect(endedOf("victim")).toBe(0);
});

it("idle isolates of the caller that holds the most bytes make room for all others", async () => {
  const { lease, opened } = places((caller) => (caller === "flood" ? 50 : 5));
  const idle = async (caller: string, count: number): Promise<void> => {
    for (let n = 0; n < count; n++) (await lease(ownerOf(caller, n)))?.release();
    await settle();
  };
  await idle("victim", 4);
  await idle("flood", 20);
  expect(opened.filter(({ ended }) => !ended).map(({ caller }) => caller)).toEqual([
    ...Array.from({ length: 4 }, () => "victim"),
    "flood",
  ]);
});

it("a caller wakes no more isolates than its share", async () => {
  const { lease } = places(() => 5);
  const all = [];
  for (let n = 0; n < 10; n++) all.push((await lease(ownerOf("flood", n)))!);
  for (const each of all) each.release();
  for (let n = 10; n < 16; n++) (await lease(ownerOf("flood", n)))!.release();
  let woken = 0;
  for (let n = 0; n < 16; n++) if (await lease(ownerOf("flood", n))) woken++;
  expect(woken).toBe(10);
});
