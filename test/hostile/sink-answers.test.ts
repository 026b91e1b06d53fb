import { type AuditSink, type EventRecord, memorySink } from "@keyhole/kernel";
import { callbackSink } from "@keyhole/kernel/audit";
import { describe, expect, it } from "vitest";
import { echo, expectSoundLog, openKernel } from "../support/kernel.ts";

const call = { message: "x" };

describe("a log sink", () => {
  it("that returns a number, as `push` does, has stored the batch", async () => {
    const kept: EventRecord[] = [];
    const sink: AuditSink = {
      open: () => ({ last: kept.at(-1), cutBytes: 0, damage: null }),
      append: (events) => kept.push(...events) as unknown as void,
      read: (from, limit) => kept.slice(from, from + limit),
    };
    const { kernel } = await openKernel({ sink });
    kernel.registerTrusted(echo);
    expect(await kernel.call("echo", call)).toMatchObject({ ok: true });
    await expectSoundLog(kernel);
  });

  it("whose callback returns a number has stored the batch", async () => {
    const kept: EventRecord[] = [];
    const sink = callbackSink((events) => kept.push(...events) as unknown as void);
    const { kernel } = await openKernel({ sink });
    kernel.registerTrusted(echo);
    expect(await kernel.call("echo", call)).toMatchObject({ ok: true });
    expect(sink.read(0, 100)).toEqual(kept);
    await expectSoundLog(kernel);
  });

  it("that returns a custom thenable is awaited, and its rejection fails the call", async () => {
    const memory = memorySink();
    let refuse = false;
    const sink: AuditSink = {
      ...memory,
      append: (events) => {
        void memory.append(events);
        const thenable = {
          // A lazy query: it promises nothing, and calls back later.
          then(resolve: () => void, reject: (error: unknown) => void): void {
            queueMicrotask(() => (refuse ? reject(new Error("disk full")) : resolve()));
          },
        };
        return thenable as unknown as Promise<void>;
      },
    };
    const { kernel } = await openKernel({ sink });
    kernel.registerTrusted(echo);
    expect(await kernel.call("echo", call)).toMatchObject({ ok: true });
    refuse = true;
    expect(await kernel.call("echo", call)).toMatchObject({
      ok: false,
      error: { code: "AUDIT_UNAVAILABLE", details: { ran: false } },
    });
  });
});
