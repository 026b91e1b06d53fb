import { type AuditSink, createKernel, type EventRecord, eventOf, memorySink, verifyChain } from "@keyhole/kernel";
import type { ToolContext } from "@keyhole/kernel/tool";
import { netBroker } from "@keyhole/worker-host/brokers/net";
import { describe, expect, it } from "vitest";
import { FakeClock, settle } from "../support/fake-clock.ts";
import { echo, expectSoundLog, openKernel, openPolicy, toolOf } from "../support/kernel.ts";

/** Fails from the nth batch on. */
function failingSink(fromBatch: number): AuditSink & { readonly kept: EventRecord[] } {
  const kept: EventRecord[] = [];
  let batches = 0;
  return {
    kept,
    append: async (events) => {
      if (++batches >= fromBatch) throw new Error("disk full");
      kept.push(...events);
    },
    read: () => kept,
    open: () => ({ last: kept.at(-1), cutBytes: 0, damage: null }),
  };
}

describe("a log sink", () => {
  it.each([1, 2, 3])("that fails from batch %d on ends every call, and no tool runs unrecorded", async (fromBatch) => {
    const sink = failingSink(fromBatch);
    const kernel = await createKernel({ policy: openPolicy, sink });
    let runs = 0;
    kernel.registerTrusted(toolOf(() => ++runs));
    const results = [];
    for (let i = 0; i < 3; i++) results.push(await kernel.call("subject", {}));
    expect(results.at(-1)).toMatchObject({ ok: false, error: { code: "AUDIT_UNAVAILABLE" } });
    const kept = sink.kept.map(eventOf);
    expect(kept.filter(({ type }) => type === "tool.started")).toHaveLength(runs);
    expect(runs).toBe(Math.floor(fromBatch / 2));
    expect(verifyChain(kept).ok).toBe(true);
  });
});

describe("a log sink that fails while tools run", () => {
  it("ends them, and no later request of any is served", async () => {
    let isFull = false;
    const kept: EventRecord[] = [];
    const append = async (events: readonly EventRecord[]): Promise<void> => {
      if (isFull) throw new Error("disk full");
      kept.push(...events);
    };
    const sink: AuditSink = { append, read: () => kept, open: () => ({ last: undefined, cutBytes: 0, damage: null }) };
    const served: string[] = [];
    const broker = netBroker({ fetch: (url) => Promise.resolve(new Response(String(served.push(String(url))))) });
    const policy = {
      version: "1",
      posture: "permissive",
      grants: [{ tool: "*", capability: { kind: "net.write", hosts: ["example.com"] } }],
    } as const;
    const kernel = await createKernel({ policy, sink, brokers: [broker] });
    const ask = async ({ fetch }: ToolContext, path: string): Promise<unknown> =>
      fetch(`https://example.com/${path}`, { method: "POST" }).catch(() => undefined);
    const waiting = Promise.withResolvers<void>();
    const last = Promise.withResolvers<void>();
    const more = {
      capabilities: [{ kind: "net.write", hosts: ["*"] }],
      effects: ["net.write"],
      determinism: "external",
    } as const;
    const other = toolOf(
      async (_, context) => {
        await waiting.promise;
        await ask(context, "other");
        last.resolve();
      },
      { name: "other", ...more },
    );
    const first = toolOf(
      async (_, context) => {
        isFull = true;
        for (const path of ["first", "second", "third"]) await ask(context, path);
        waiting.resolve();
        await new Promise(() => {});
      },
      { name: "first", ...more },
    );
    kernel.registerTrusted(other);
    kernel.registerTrusted(first);
    const results = await Promise.all([kernel.call("other", {}), kernel.call("first", {})]);
    for (const result of results) expect(result).toMatchObject({ ok: false, error: { code: "AUDIT_UNAVAILABLE" } });
    waiting.resolve();
    await last.promise;
    // The kernel hears of the failure when it writes the first one.
    expect(served).toEqual(["https://example.com/first"]);
  });
});

/** The sink of a kernel, and its steps after the start. */
async function closing() {
  const memory = memorySink();
  const steps: string[] = [];
  const sink: AuditSink = {
    ...memory,
    append: async (events) => {
      await memory.append(events);
      steps.push(...events.map((each) => eventOf(each).type));
    },
    close: () => void steps.push("closed"),
  };
  const clock = new FakeClock();
  const kernel = await createKernel({ policy: openPolicy, sink, clock });
  steps.length = 0;
  return { kernel, steps, clock };
}

describe("the sink of a kernel that closes", () => {
  it("is closed once, behind the last event", async () => {
    const { kernel, steps } = await closing();
    kernel.registerTrusted(echo);
    await kernel.call("echo", { message: "x" });
    await kernel.close();
    await kernel.close();
    expect(steps.slice(-2)).toEqual(["tool.completed", "closed"]);
    expect(steps.filter((step) => step === "closed")).toHaveLength(1);
  });

  it("takes the end of a call that still runs first", async () => {
    const { kernel, steps, clock } = await closing();
    kernel.registerTrusted(toolOf(() => new Promise(() => {})));
    const call = kernel.call("subject", {});
    await clock.advance(1);
    await kernel.close();
    expect(await call).toMatchObject({ error: { code: "ISOLATE_LOST" } });
    await settle();
    expect(steps.slice(-2)).toEqual(["tool.failed", "closed"]);
  });
});

describe("a log that another kernel left", () => {
  it("continues after its last event and records lost calls", async () => {
    const sink = memorySink();
    const clock = new FakeClock();
    const first = await createKernel({ policy: openPolicy, sink, clock });
    first.registerTrusted(toolOf(() => new Promise(() => {})));
    const lost = first.call("subject", {}, { sessionId: "s" });
    await clock.advance(1);
    void lost;
    const second = await createKernel({ policy: openPolicy, sink, clock });
    second.registerTrusted(echo);
    expect(await second.call("echo", { message: "x" })).toMatchObject({ ok: true });
    const events = await second.audit.read();
    expect(events.filter(({ type }) => type === "tool.lost")).toMatchObject([
      { sessionId: "s", payload: { lastSeq: 4 } },
    ]);
    await expectSoundLog(second);
  });
});

describe("verifyChain over a log of a kernel", () => {
  it("finds every change, gap and swap", async () => {
    const { kernel } = await openKernel();
    kernel.registerTrusted(echo);
    await kernel.call("echo", { message: "x" });
    const events = await kernel.audit.read();
    expect(verifyChain(events)).toMatchObject({ ok: true, events: 6 });
    for (const [index, event] of events.entries()) {
      for (const key of Object.keys(event)) {
        const changed = events.with(index, { ...event, [key]: key === "seq" ? 99 : "changed" });
        expect(verifyChain(changed), `${index} ${key}`).toMatchObject({ ok: false });
      }
      if (index > 0 && index < events.length - 1) expect(verifyChain(events.toSpliced(index, 1)).ok).toBe(false);
    }
    expect(verifyChain([events[1]!, events[0]!]).ok).toBe(false);
    expect(verifyChain(events.slice(2)).ok).toBe(true);
  });
});
