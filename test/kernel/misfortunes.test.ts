import {
  type AuditEvent,
  type CallOptions,
  type CallResult,
  createKernel,
  type Kernel,
  type KernelOptions,
  memorySink,
  terminalTypes,
} from "@keyhole/kernel";
import { callSuspender } from "@keyhole/kernel/suspend";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { FakeClock } from "../support/fake-clock.ts";
import { sized } from "../support/size.ts";
import { openLedger } from "./misfortunes/ledger.ts";
import {
  approverOf,
  brokerOf,
  contentOf,
  hostOf,
  misfortunes,
  type Opened,
  type Plan,
  policyOf,
  secretsOf,
  type Tick,
  toolKinds,
  toolsOf,
  watchedSignal,
} from "./misfortunes/world.ts";

const key = new Uint8Array(32);

/** One kernel, the calls under way in it, and the one moment at which the misfortune happens. */
class Play {
  readonly plan: Plan;
  readonly clock = new FakeClock();
  readonly opened: Opened = { isolates: 0 };
  readonly pending: Promise<unknown>[] = [];
  readonly events: AuditEvent[] = [];
  readonly snapshots: Uint8Array<ArrayBuffer>[] = [];
  readonly caller = watchedSignal((place) => this.tick(place));
  readonly #sink = memorySink();
  kernel: Kernel | undefined;
  sinkFails = false;
  #moments = 0;
  #unsettled = 0;
  #approvalId = "";
  isOutputOver = false;

  constructor(plan: Plan) {
    this.plan = plan;
  }

  readonly tick: Tick = (place) => {
    const { kernel } = this;
    if (!kernel || this.#moments++ !== this.plan.after) return;
    this.#befall(kernel, place);
  };

  #befall(kernel: Kernel, place: string): void {
    switch (this.plan.misfortune) {
      case "throw":
        // A store that fails is a log that fails.
        if (place === "sink" || place === "content") this.sinkFails = true;
        if (place === "write" || place === "pull") this.isOutputOver = true; // A stream that failed is told nothing more.
        throw new Error(`at ${place}`);
      case "cancel":
        return this.caller.controller.abort();
      case "mode":
        return this.#later(kernel.setMode("LOCKDOWN", "misfortune"));
      case "sink":
        this.sinkFails = true;
        return;
      case "revoke grant":
        return this.#later(kernel.grants.revoke({ caller: "ann" }, "misfortune"));
      case "revoke approval":
        return this.#later(kernel.approvals.revoke(this.#approvalId, "misfortune"));
      case "suspend":
        for (const callId of new Set(this.events.map((event) => event.callId)))
          if (callId !== null)
            this.#later(kernel.suspend(callId, { waitMs: 0 }).then((put) => put.ok && this.snapshots.push(put.bytes)));
        return;
      // Of these the world itself takes care.
      case "deny":
      case "edit":
      case "hang":
      case "lost":
      case "none":
    }
  }

  #later(change: Promise<unknown>): void {
    this.#unsettled++;
    this.pending.push(change.catch(() => {}).finally(() => this.#unsettled--));
  }

  /**
   * Lets time pass until it is there: first none, then little, then more than any limit of the kernel. Encryption takes real
   * time, in which the clock stands still.
   */
  async drive<Result>(all: Promise<Result>): Promise<Result> {
    let isOver = false;
    const over = all.finally(() => (isOver = true));
    for (let turn = 0; !isOver; this.#unsettled === 0 && turn++) {
      await this.clock.advance(turn < 5 ? 0 : turn < 10 ? 60 : 10_000);
      await new Promise((resolve) => setImmediate(resolve));
    }
    return over;
  }

  async open(): Promise<Kernel> {
    const { plan, tick, clock } = this;
    const append: KernelOptions["sink"] = {
      ...this.#sink,
      append: (records) => {
        tick("sink");
        const write = (): void => {
          if (this.sinkFails) throw new Error("disk full");
          void this.#sink.append(records);
        };
        return plan.isSlow ? Promise.resolve().then(write) : write();
      },
    };
    const kernel = await createKernel({
      host: hostOf(plan, tick, this.opened),
      policy: policyOf(plan),
      brokers: [brokerOf(plan, tick)],
      approver: approverOf(plan, tick, ({ approvalId }) => (this.#approvalId = approvalId)),
      suspender: callSuspender({ key }),
      content: contentOf(tick),
      secrets: secretsOf(tick),
      sink: append,
      clock,
    });
    for (const tool of toolsOf(plan)) if (!kernel.register(tool).ok) throw new Error("a tool of the test is invalid");
    return kernel;
  }

  /** The calls of the plan. */
  begin(kernel: Kernel): Promise<CallResult>[] {
    const { tool, isKeyed, isCrowded } = this.plan;
    const common = { caller: "ann", sessionId: "s", waitMs: 5_000, ...(isKeyed && { idempotencyKey: "k" }) };
    const options: CallOptions = { ...common, signal: this.caller.controller.signal, ...this.#streams() };
    this.kernel = kernel;
    kernel.audit.subscribe((event) => this.events.push(event));
    const calls = [kernel.call("subject", { n: 1 }, options)];
    if (tool !== "body") calls.push(kernel.call("subject", { n: 1 }, common));
    if (isCrowded) calls.push(kernel.call("inner", {}, { caller: "eve", waitMs: 5_000 }));
    return calls;
  }

  #streams(): CallOptions {
    const over = (): void => void (this.isOutputOver = true);
    const { tool } = this.plan;
    if (tool === "stream")
      return { output: new WritableStream({ write: () => this.tick("write"), close: over, abort: over }) };
    if (tool !== "body") return {};
    let pieces = 3;
    const pull = (controller: ReadableStreamDefaultController<Uint8Array>): void => {
      this.tick("pull");
      if (pieces-- > 0) return controller.enqueue(new Uint8Array(4));
      controller.close();
      over();
    };
    return { body: new ReadableStream({ pull, cancel: over }, { highWaterMark: 0 }) };
  }
}

/** Everything that was taken for the calls is back, and each call has one end. */
async function play(plan: Plan): Promise<string> {
  const ledger = openLedger();
  try {
    const play = new Play(plan);
    const first = await play.open();
    const results = await play.drive(Promise.all(play.begin(first)));
    await play.drive(Promise.all(play.pending));
    const kernels = [first];
    for (const snapshot of play.snapshots) {
      const second = await play.open();
      kernels.push(second);
      const both = await play.drive(Promise.all([second.resume(snapshot), second.resume(snapshot)]));
      if (play.sinkFails) continue;
      const refused = both.filter((result) => !result.ok && result.error.code === "SNAPSHOT_REFUSED");
      expect(refused, "of two that resume one call, one is refused").toHaveLength(1);
    }
    for (const { callId } of results)
      expect(await first.suspend(callId, { waitMs: 0 })).toMatchObject({ error: { code: "CALL_NOT_FOUND" } });
    // A claim that nobody gave back would let an equal call wait for ever.
    if (!play.sinkFails && plan.tool !== "body")
      await play.drive(first.call("subject", { n: 1 }, { caller: "ann", sessionId: "s", idempotencyKey: "k" }));
    for (const kernel of kernels) await kernel.close();
    await play.drive(new Promise((resolve) => setImmediate(resolve)));
    expect(ledger.held()).toEqual([]);
    expect({ isolates: play.opened.isolates, listeners: play.caller.listeners(), timers: play.clock.pendingTimers }).toEqual({ isolates: 0, listeners: 0, timers: 0 }); // prettier-ignore
    if (plan.tool === "stream" || plan.tool === "body") expect(play.isOutputOver, "the caller's stream").toBe(true);
    if (play.snapshots.length === 0 && !play.sinkFails) expectOneEnd(play.events, results);
    const [result] = results;
    return result?.ok === false ? result.error.code : "ok";
  } finally {
    ledger.stop();
  }
}

function expectOneEnd(events: readonly AuditEvent[], results: readonly CallResult[]): void {
  for (const { callId } of results) {
    const ends = events.filter((event) => event.callId === callId && terminalTypes.includes(event.type));
    expect(ends, `ends of ${callId}`).toHaveLength(1);
  }
}

const plans: fc.Arbitrary<Plan> = fc.record({
  misfortune: fc.constantFrom(...misfortunes),
  after: fc.nat(40),
  tool: fc.constantFrom(...toolKinds),
  isAsked: fc.boolean(),
  isKeyed: fc.boolean(),
  isCrowded: fc.boolean(),
  isSlow: fc.boolean(),
});

it("a call with any misfortune at any moment gives everything back that it held", async () => {
  const plays = fc.asyncProperty(plans, async (plan) => void (await play(plan)));
  await fc.assert(plays, { numRuns: sized(120, 3_000) });
});

describe("a misfortune of the test happens where it hurts", () => {
  const plan = { tool: "reading", isAsked: true, isKeyed: true, isCrowded: false, isSlow: true } as const;

  it.each([
    ["none", 0, "ok"],
    ["throw", 0, "INVALID_INPUT"],
    ["throw", 1, "INTERNAL"],
    ["throw", 7, "APPROVAL_DENIED"],
    ["throw", 8, "AUDIT_UNAVAILABLE"],
    ["cancel", 8, "CANCELLED"],
    ["revoke approval", 7, "APPROVAL_DENIED"],
    ["revoke grant", 0, "CAPABILITY_DENIED"],
    ["mode", 0, "POLICY_DENIED"],
    ["mode", 7, "APPROVAL_DENIED"],
    ["sink", 20, "AUDIT_UNAVAILABLE"],
    ["suspend", 7, "SUSPENDED"],
    ["hang", 0, "APPROVAL_EXPIRED"],
    ["lost", 0, "ISOLATE_LOST"],
    ["deny", 0, "APPROVAL_DENIED"],
    ["edit", 7, "ok"],
  ] as const)("%s, after %i moments: %s", async (misfortune, after, outcome) => {
    expect(await play({ ...plan, misfortune, after })).toBe(outcome);
  });

  it.each([
    ["hang", 0, "TIMEOUT"],
    ["suspend", 12, "SUSPENDED"],
  ] as const)("%s in a run, after %i moments: %s", async (misfortune, after, outcome) => {
    expect(await play({ ...plan, isAsked: false, misfortune, after })).toBe(outcome);
  });
});
