import { type ApprovalProof, blake3Hash, type CallResult, limits } from "@keyhole/kernel";
import { HeldInput, HeldOutput } from "@keyhole/kernel/context";
import { expect, it } from "vitest";
import type { BusRequest } from "../../packages/bus/src/serve/request.ts";
import { RunningCalls } from "../../packages/bus/src/serve/running-calls.ts";
import type { McpCaller } from "../../packages/mcp/src/server/caller.ts";
import type { Ending } from "../../packages/kernel/src/call/ending/ending.ts";
import { Keys } from "../../packages/kernel/src/extensions/idempotency/keys.ts";
import { Results } from "../../packages/kernel/src/extensions/pure-cache/results.ts";
import { type ApprovalKey, Approvals } from "../../packages/kernel/src/policy/approval/standing-approvals.ts";
import { standingTable } from "../../packages/kernel/src/policy/approval/standing-table.ts";
import type { DecisionInput } from "../../packages/kernel/src/policy/decision/condition.ts";
import { applyAll } from "../../packages/kernel/src/state/change.ts";
import { SteadyClock } from "../../packages/kernel/src/state/steady-clock.ts";
import { OutputLinks } from "../../packages/mcp/src/server/output-links.ts";
import { WaitingCall, WaitingCalls } from "../../packages/mcp/src/server/waiting-calls.ts";
import { backoffOf } from "../support/backoff.ts";
import { FakeClock, settle } from "../support/fake-clock.ts";

// Callers share a server's memory for results. The victim paid for a result and has not fetched it yet, and another caller floods the memory.

const [victim, flood]: readonly McpCaller[] = ["victim", "flood"].map((caller) => ({ caller, tenant: caller }));
const mebi = 1_048_576;

/** Whether the victim's result is there after the flood. */
type Store = () => Promise<boolean>;

const links: Store = async () => {
  const all = new OutputLinks();
  const preview = async () => ({ decision: "allow" }) as const;
  const outputOf = (text: string) =>
    new HeldOutput<string, McpCaller>("", 0, { callId: "", input: new HeldInput({ text }), preview });
  const at = (caller: McpCaller) => ({ caller, sessionId: "s" });
  const uri = all.add("a:b", outputOf(""), at(victim!));
  const large = outputOf("x".repeat(8 * mebi));
  for (let i = 0; i < 20; i++) all.add("a:b", large, at(flood!));
  return all.find(uri, at(victim!)) !== undefined;
};

const waiting: Store = async () => {
  const all = new WaitingCalls(new FakeClock());
  const ended = (caller: McpCaller): WaitingCall =>
    new WaitingCall(
      caller,
      new AbortController(),
      async () => ({ ok: true, data: null }) as CallResult,
      async () => never(),
      {},
      undefined,
    );
  all.keep("paid", ended(victim!));
  await settle();
  for (let i = 0; i < 1_010; i++) {
    all.keep(`flood ${i}`, ended(flood!));
    if (i % 500 === 0) await settle();
  }
  return all.find("paid", victim!) !== undefined;
};

const onBus: Store = async () => {
  const clock = new FakeClock();
  const all = new RunningCalls(clock);
  const end = (caller: string, at: number, bytes: number): string => {
    const correlation = at.toString(16).padStart(32, "0");
    const request: BusRequest = {
      reply: "_INBOX.1",
      correlation,
      deadlineMs: clock.now() + 60_000,
      definition: "",
      key: undefined,
      traceparent: undefined,
      isSealed: false,
    };
    all.end(all.add({ caller: { caller }, credential: undefined }, request, bytes)!, { bytes, open: async () => [] });
    return correlation;
  };
  const correlation = end("victim", 0, 1_000);
  for (let at = 1; at <= 40; at++) end("flood", at, mebi);
  return all.find({ caller: { caller: "victim" }, credential: undefined }, correlation)?.result !== undefined;
};

const keys: Store = async () => {
  const steady = new SteadyClock(new FakeClock());
  const all = new Keys(() => ({ steady, hash: blake3Hash }));
  const claim = (caller: string, key: string) =>
    all.claim({ caller, key, callId: key, tool: "pay", toolId: "pay@1.0.0", inputHash: "" });
  const end = (caller: string, key: string, outputBytes: number): void => {
    const first = claim(caller, key);
    if (first.kind !== "first") throw new Error(first.kind);
    applyAll(first.used());
    first.end({ outcome: { ok: true, output: { outputBytes } } } as Ending);
  };
  end("victim", "pay", 1);
  for (const key of ["1", "2", "3"]) end("flood", key, 16 * mebi);
  return claim("victim", "pay").kind === "ended";
};

const standing: Store = async () => {
  const clock = new FakeClock();
  const all = new Approvals(clock, new SteadyClock(clock), standingTable());
  const key = (caller: string, argsHash: string): ApprovalKey => ({
    sessionId: "s",
    caller,
    toolHash: "t",
    argsHash,
    grantHash: "g",
    policyHash: "p",
    mode: "NORMAL",
    within: null,
    asks: [],
  });
  const remember = (caller: string, argsHash: string): void => {
    const approval = { approvalId: argsHash, argsHash, approver: "ada", scope: "session", nonce: "", expiresAt: "" };
    applyAll(all.remember(key(caller, argsHash), "pay@1.0.0", approval as ApprovalProof));
  };
  remember("victim", "paid");
  for (let i = 0; i < limits.sessionApprovals + 10; i++) remember("flood", `${i}`);
  return all.find(key("victim", "paid"), {} as DecisionInput) !== undefined;
};

const pure: Store = async () => {
  const all = new Results();
  const keep = (caller: string, key: string, outputBytes: number): void =>
    all.begin(key, caller, false)({ outcome: { ok: true, output: { outputBytes } } } as Ending);
  keep("victim", "tool paid", 1_000);
  for (let i = 0; i < limits.cachedResults + 10; i++) keep("flood", `tool ${i}`, 1);
  for (let i = 0; i < 40; i++) keep("flood", `tool large ${i}`, mebi);
  return all.find(["tool paid"]) !== undefined;
};

/** The victim's tool is in quarantine, and keeps its rest. */
const quarantines: Store = async () => {
  const all = backoffOf();
  const fail = (caller: string, toolHash: string): void =>
    all.failed("tool", { cause: "isolates", caller, toolHash }, { wentOn: true });
  fail("victim", "t");
  for (let i = 0; i < limits.quarantines + 10; i++) fail("flood", `${i}`);
  return all.rest([{ cause: "isolates", caller: "victim", toolHash: "t" }]) !== undefined;
};

function never(): never {
  throw new Error("Nobody is asked.");
}

it.each([
  ["links to outputs", links],
  ["calls that waited for a person", waiting],
  ["results of a bus", onBus],
  ["results of idempotency keys", keys],
  ["standing approvals", standing],
  ["results of pure tools", pure],
  ["quarantines", quarantines],
])("a flood of one caller takes no result of another: %s", async (_, store) => {
  expect(await store()).toBe(true);
});
