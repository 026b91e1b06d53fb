import { type IsolateHost, memorySink } from "@keyhole/kernel";
import { interpreterHost } from "@keyhole/worker-host/wasm";
import { describe, expect, it } from "vitest";
import { FakeClock } from "../support/fake-clock.ts";
import { begin, suspendingKernel } from "../support/suspension.ts";
import { testEngine } from "../wasm/engine.ts";

const host = async (): Promise<IsolateHost> => interpreterHost({ engine: await testEngine() });

describe("suspending", () => {
  it("twice at the same time makes one snapshot", async () => {
    const { kernel, files } = await suspendingKernel(await host());
    const { callId, result } = await begin(kernel, "patient", {});
    await files.untilAsked("read a", "read b");
    const both = await Promise.all([kernel.suspend(callId, { waitMs: 0 }), kernel.suspend(callId, { waitMs: 0 })]);
    expect(both.map((each) => each.ok || each.error.code)).toEqual([true, "NOT_WAITING"]);
    expect(await result).toMatchObject({ error: { code: "SUSPENDED" } });
  });

  it("a call whose log fails ends, and gives no bytes", async () => {
    const sink = memorySink();
    let isFull = false;
    const { kernel, files } = await suspendingKernel(await host(), {
      sink: {
        ...sink,
        append: (records) => {
          if (isFull) throw new Error("disk full");
          return sink.append(records);
        },
      },
    });
    const { callId, result } = await begin(kernel, "patient", {});
    await files.untilAsked("read a", "read b");
    isFull = true;
    expect(await kernel.suspend(callId, { waitMs: 0 })).toMatchObject({
      ok: false,
      error: { code: "AUDIT_UNAVAILABLE" },
    });
    expect(await result).toMatchObject({ ok: false, error: { code: "AUDIT_UNAVAILABLE" } });
  });

  it("waits for an answer that comes in time", async () => {
    const clock = new FakeClock();
    const { kernel, files } = await suspendingKernel(await host(), { clock });
    const { callId, result } = await begin(kernel, "careful", {});
    await files.untilAsked("write c");
    const suspending = kernel.suspend(callId);
    await clock.advance(999);
    files.answer("write c");
    const suspension = await suspending;
    if (!suspension.ok) throw new Error(suspension.error.message);
    expect(await result).toMatchObject({ error: { code: "SUSPENDED" } });
    const second = await suspendingKernel(await host());
    expect(await second.kernel.resume(suspension.bytes)).toMatchObject({ ok: true, data: "written" });
    expect(second.files.asked).toEqual([]);
  });
});
