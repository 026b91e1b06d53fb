import type { PolicyDocument, PolicyRule } from "@keyhole/kernel";
import { describe, expect, it } from "vitest";
import { FakeClock, settle } from "../support/fake-clock.ts";
import { expectSoundLog, openKernel, toolOf } from "../support/kernel.ts";

// A call can wait for its approver or for a slot. Meanwhile its session reads the web, and time passes.

const asks: PolicyRule = { id: "ask", effect: "ask", when: { tool: ["send"] }, reason: "Mails are asked about." };
const later = "2026-01-01T00:00:02Z";
const labelled = { tool: ["send"], labels: ["untrusted"] };
const timed = { tool: ["send"], time: { after: later } };
const denying = (when: PolicyRule["when"]): PolicyRule => ({ id: "no", effect: "deny", when, reason: "Not now." });

async function open(rules: readonly PolicyRule[]) {
  const policy: PolicyDocument = {
    version: "1",
    posture: "standard",
    labels: { untrusted: { tools: ["web", "send"] } },
    rules,
  };
  const clock = new FakeClock(Date.parse("2026-01-01T00:00:00Z"));
  const answers: (() => void)[] = [];
  const { kernel } = await openKernel({
    policy,
    clock,
    approver: () =>
      new Promise((resolve) => answers.push(() => resolve({ answer: "allow", scope: "once", approver: "ada" }))),
  });
  let runs = 0;
  const ends: (() => void)[] = [];
  const isSlow = { now: false };
  kernel.registerTrusted(toolOf(() => "of anybody", { name: "web" }));
  kernel.registerTrusted(
    toolOf(
      () => {
        runs++;
        return isSlow.now ? new Promise((resolve) => ends.push(() => resolve(1))) : 1;
      },
      { name: "send", bounds: { concurrency: 1 } },
    ),
  );
  const send = (sessionId = "s") => kernel.call("send", {}, { sessionId });
  const web = () => kernel.call("web", {}, { sessionId: "s" });
  const yes = async (): Promise<void> => {
    await settle();
    answers.shift()!();
  };
  return { kernel, clock, send, web, yes, ends, isSlow, runs: () => runs };
}

describe("a rule that begins to hold while an approval is open", () => {
  it.each([
    ["denies by a label", denying(labelled), "label"],
    ["denies by the time", denying(timed), "time"],
    ["asks by a label", { ...denying(labelled), effect: "ask" }, "label"],
    ["asks by the time", { ...denying(timed), effect: "ask" }, "time"],
  ] as const)("%s: the approval is void", async (_, rule, by) => {
    const { kernel, clock, send, web, yes, runs } = await open([asks, rule]);
    const waiting = send();
    await settle();
    if (by === "label") await web();
    else await clock.advance(2_001);
    await yes();
    expect(await waiting).toMatchObject({ ok: false, error: { code: "APPROVAL_DENIED", retryable: true } });
    expect(runs()).toBe(0);
    await expectSoundLog(kernel);
  });

  it("does not concern the call: the approval holds", async () => {
    const other = { ...denying({ ...labelled, tool: ["pay"] }), effect: "ask" } as const;
    const { send, web, yes, runs } = await open([asks, other]);
    const waiting = send();
    await settle();
    await web();
    await yes();
    expect(await waiting).toMatchObject({ ok: true });
    expect(runs()).toBe(1);
  });

  it("was among those that asked: the approval holds", async () => {
    const { send, web, yes } = await open([asks, { ...denying(labelled), effect: "ask" }]);
    await web();
    const waiting = send();
    await yes();
    expect(await waiting).toMatchObject({ ok: true });
  });
});

describe("a rule that begins to hold while a call waits for a slot", () => {
  it.each([
    ["denies by a label", denying(labelled), "label"],
    ["denies by the time", denying(timed), "time"],
    ["asks by a label", { ...denying(labelled), effect: "ask" }, "label"],
  ] as const)("%s: the call is refused, and can be made again", async (_, rule, by) => {
    const { kernel, clock, send, web, ends, isSlow, runs } = await open([rule]);
    isSlow.now = true;
    const first = send("other");
    const second = send();
    await settle();
    if (by === "label") await web();
    else await clock.advance(2_001);
    ends.shift()!();
    expect(await second).toMatchObject({ ok: false, error: { code: "POLICY_DENIED", retryable: true } });
    await first;
    expect(runs()).toBe(1);
    await expectSoundLog(kernel);
  });

  it("is about the tool's own label: the first call runs", async () => {
    const { send, runs } = await open([denying(labelled)]);
    expect(await send()).toMatchObject({ ok: true });
    expect(await send()).toMatchObject({ ok: false, error: { code: "POLICY_DENIED" } });
    expect(runs()).toBe(1);
  });
});
