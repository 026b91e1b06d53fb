import {
  blake3Hash,
  type ApprovalAnswer,
  createKernel,
  defineTool,
  manifestOf,
  packageHash,
  terminalTypes,
  type ToolPackage,
} from "@keyhole/kernel";
import { describe, expect, it, vi } from "vitest";
import { Revocations } from "../../packages/kernel/src/capability/revocation.ts";
import { Counters } from "../../packages/kernel/src/policy/decision/counters.ts";
import { FakeClock, settle } from "../support/fake-clock.ts";
import { toolOf } from "../support/kernel.ts";
import { hostOpening } from "../support/module-host.ts";
import { sized } from "../support/size.ts";

const calls = sized(2_000, 10_000);
const callers = calls / 20;
const dayMs = 86_400_000;

/** Every isolate of it is lost in its first call. */
const lostHost = hostOpening("lost", async () => ({
  alive: true,
  terminate: () => {},
  call: async () => ({ kind: "lost", reason: "it is the test's" }),
}));

function lostPackage(): ToolPackage {
  const tool = defineTool({
    name: "lost",
    version: "1.0.0",
    description: "Never comes back.",
    input: { type: "object" },
    output: { kind: "json" },
    bounds: { concurrency: 64 },
    execute: () => 1,
  });
  const manifest = manifestOf(tool, "module");
  return { manifest, code: "export default 1;", hash: packageHash(manifest, "export default 1;", blake3Hash)! };
}

const kinds = ["allow", "deny", "yes", "no", "silence", "timeout", "throw", "cancel", "lost", "count"] as const;
type Kind = (typeof kinds)[number];

const policy = {
  version: "1",
  posture: "permissive",
  grants: [{ tool: "*", capability: { kind: "kv.read", keys: ["*"] } }],
  rules: [
    { id: "no", effect: "deny", when: { tool: ["deny"] }, reason: "No." },
    { id: "ask", effect: "ask", when: { tool: ["yes", "no", "silence"] }, reason: "May it?" },
    {
      id: "sum",
      effect: "deny",
      when: { count: { windowMs: dayMs, per: [], sum: "/amount", moreThan: Number.MAX_SAFE_INTEGER } },
      reason: "Never.",
    },
    {
      id: "budget",
      effect: "deny",
      when: { tool: ["count"], count: { windowMs: dayMs, moreThan: 3 } },
      reason: "Three a day.",
    },
  ],
};

const body: Readonly<Record<Kind, () => unknown>> = {
  allow: () => 1,
  deny: () => 1,
  yes: () => 1,
  no: () => 1,
  silence: () => 1,
  timeout: () => new Promise(() => {}),
  throw: () => {
    throw new Error("thrown");
  },
  cancel: () => new Promise(() => {}),
  lost: () => 1,
  count: () => 1,
};

async function openBench() {
  const counters = vi.spyOn(Counters.prototype, "charge");
  const revocations = vi.spyOn(Revocations.prototype, "track");
  const clock = new FakeClock();
  const kernel = await createKernel({
    clock,
    policy,
    host: lostHost,
    approver: ({ tool }, signal): Promise<ApprovalAnswer> =>
      tool.startsWith("silence")
        ? new Promise((_, reject) => signal.addEventListener("abort", () => reject(new Error("nobody waits"))))
        : Promise.resolve(
            tool.startsWith("yes")
              ? { answer: "allow", scope: "once", approver: "ada" }
              : { answer: "deny", approver: "ada" },
          ),
  });
  for (const name of kinds) {
    if (name === "lost") expect(kernel.register(lostPackage())).toMatchObject({ ok: true });
    else {
      const bounds = { timeoutMs: 1_000, concurrency: 64 };
      const capabilities = [{ kind: "kv.read", keys: ["*"] }];
      const more = { name, bounds, capabilities, effects: ["kv.read"], determinism: "external" };
      expect(kernel.registerTrusted(toolOf(body[name], more))).toMatchObject({ ok: true });
    }
  }
  return { kernel, clock, counters, revocations };
}

describe("thousands of calls at once", () => {
  it("with every kind of end leave nothing behind", async () => {
    const { kernel, clock, counters, revocations } = await openBench();
    const ends = new Map<string, number>();
    kernel.audit.subscribe(({ type, callId }) => {
      if (callId !== null && terminalTypes.includes(type)) ends.set(callId, (ends.get(callId) ?? 0) + 1);
    });
    const cancel = new AbortController();
    const ask = (kind: Kind, caller: string) =>
      kernel.call(kind, { amount: 1 }, { caller, ...(kind === "cancel" && { signal: cancel.signal }) });
    const running = Array.from({ length: calls }, (_, at) =>
      ask(kinds[at % kinds.length]!, `caller ${Math.floor(at / kinds.length) % callers}`),
    );
    await settle();
    cancel.abort();
    for (let second = 0; second < 125; second++) await clock.advance(1_000);
    const results = await Promise.all(running);

    const codes = Map.groupBy(results, (result) => (result.ok ? "ok" : result.error.code));
    for (const code of [
      "ok",
      "POLICY_DENIED",
      "APPROVAL_DENIED",
      "APPROVAL_EXPIRED",
      "RATE_LIMITED",
      "TIMEOUT",
      "CANCELLED",
      "TOOL_ERROR",
      "ISOLATE_LOST",
    ] as const)
      expect(codes.get(code)?.length ?? 0, code).toBeGreaterThan(0);
    expect(codes.get("INTERNAL")).toBeUndefined();
    expect(ends.size).toBe(calls);
    expect([...ends.values()].every((count) => count === 1)).toBe(true);

    const [counter] = counters.mock.contexts as readonly Counters[];
    const [tree] = revocations.mock.contexts as readonly Revocations[];
    expect(counter!.open).toBe(0);
    expect(tree!.open).toBe(0);

    // Every slot is free again, and every caller has all of its questions.
    for (let hour = 0; hour < 25; hour++) await clock.advance(3_600_000);
    const full = Array.from({ length: 32 }, () => ask("timeout", "caller 0"));
    const questions = Array.from({ length: 16 }, () => ask("silence", "caller 1"));
    await settle();
    for (let second = 0; second < 125; second++) await clock.advance(1_000);
    expect(new Set((await Promise.all(full)).map((result) => !result.ok && result.error.code))).toEqual(
      new Set(["TIMEOUT"]),
    );
    expect(new Set((await Promise.all(questions)).map((result) => !result.ok && result.error.code))).toEqual(
      new Set(["APPROVAL_EXPIRED"]),
    );
    expect(counter!.open).toBe(0);
    expect(tree!.open).toBe(0);
    vi.restoreAllMocks();
  });
});
