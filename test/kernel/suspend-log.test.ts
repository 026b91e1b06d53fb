import { type AuditSink, eventOf, type IsolateHost, memorySink } from "@keyhole/kernel";
import { interpreterHost } from "@keyhole/worker-host/wasm";
import { describe, expect, it } from "vitest";
import { asking, bytesOf, claimOnce, suspendingKernel } from "../support/suspension.ts";
import { testEngine } from "../wasm/engine.ts";

const host = async (): Promise<IsolateHost> => interpreterHost({ engine: await testEngine() });
const yes = async () => ({ answer: "allow", scope: "once", approver: "ada" }) as const;

/** A call that waits for an answer, in bytes. */
async function suspendedIn(sink: AuditSink): Promise<Uint8Array<ArrayBuffer>> {
  const { kernel } = await suspendingKernel(await host(), { sink });
  return bytesOf(kernel, await asking(kernel, "guarded", { x: 1 }));
}

const otherLog = { ok: false, error: { code: "SNAPSHOT_REFUSED", details: { reason: "other-log" } } };
const beforeThat = { ok: false, error: { code: "SNAPSHOT_REFUSED", details: { reason: "resumed-before" } } };

describe("a snapshot whose event the log does not have", () => {
  it.each<[string, (sink: AuditSink) => AuditSink]>([
    ["another log", () => memorySink()],
    ["a log that has forgotten it", (sink) => forgetful(sink)],
  ])("is refused without a claim: %s", async (_, reopened) => {
    const sink = memorySink();
    const bytes = await suspendedIn(sink);
    const { kernel } = await suspendingKernel(await host(), { sink: reopened(sink), approver: yes });
    expect(await kernel.resume(bytes)).toMatchObject(otherLog);
    // Nothing is used up: where the log knows it, it goes on.
    const home = await suspendingKernel(await host(), { sink, approver: yes });
    expect(await home.kernel.resume(bytes)).toMatchObject({ ok: true });
  });

  it("goes on once under a claim that all kernels share", async () => {
    const bytes = await suspendedIn(memorySink());
    const suspension = { claim: claimOnce() };
    const open = async () => suspendingKernel(await host(), { sink: memorySink(), approver: yes, suspension });
    const [second, third] = [await open(), await open()];
    expect(await second.kernel.resume(bytes)).toMatchObject({ ok: true });
    expect(await third.kernel.resume(bytes)).toMatchObject(beforeThat);
  });
});

describe("a snapshot that went on", () => {
  it("is known to the next kernel on the log", async () => {
    const sink = memorySink();
    const bytes = await suspendedIn(sink);
    const second = await suspendingKernel(await host(), { sink, approver: yes });
    expect(await second.kernel.resume(bytes)).toMatchObject({ ok: true });
    const third = await suspendingKernel(await host(), { sink, approver: yes });
    expect(await third.kernel.resume(bytes)).toMatchObject(beforeThat);
    const events = (await sink.read(0, 100)).map(eventOf);
    const resumed = events.find(({ type }) => type === "tool.resumed");
    expect(resumed?.state).toMatchObject([["suspension.used", 1, expect.any(String), true]]);
  });
});

/** The same log, in which nobody can read any more what came before the last event. */
function forgetful(sink: AuditSink): AuditSink {
  return {
    ...sink,
    read: async (fromSeq, limit) => {
      const last = (await sink.open()).last?.seq ?? 0;
      return sink.read(Math.max(fromSeq, last), limit);
    },
  };
}
