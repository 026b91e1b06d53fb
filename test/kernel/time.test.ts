import { defineTool } from "@keyhole/kernel/tool";
import { describe, expect, it } from "vitest";
import { echo, expectSoundLog, openKernel, toolOf } from "../support/kernel.ts";

describe("time", () => {
  const waits = toolOf(() => new Promise(() => {}), { bounds: { timeoutMs: 500 } });

  it("stops at the deadline, not before, and the late answer has no effect", async () => {
    const { kernel, clock } = await openKernel();
    let finish: (value: unknown) => void = () => {};
    kernel.registerTrusted(toolOf(() => new Promise((resolve) => (finish = resolve)), { bounds: { timeoutMs: 500 } }));
    const pending = kernel.call("subject", {});
    let settled = false;
    void pending.then(() => (settled = true));
    await clock.advance(499);
    expect(settled).toBe(false);
    await clock.advance(1);
    expect(await pending).toMatchObject({ ok: false, error: { code: "TIMEOUT", details: { timeoutMs: 500 } } });
    finish("late");
    await clock.advance(10_000);
    await expectSoundLog(kernel);
  });

  it("a caller can lower the deadline and cannot raise it", async () => {
    const { kernel, clock } = await openKernel();
    kernel.registerTrusted(waits);
    const short = kernel.call("subject", {}, { bounds: { timeoutMs: 100 } });
    await clock.advance(100);
    expect(await short).toMatchObject({ error: { code: "TIMEOUT", details: { timeoutMs: 100 } } });
    const long = kernel.call("subject", {}, { bounds: { timeoutMs: 100_000 } });
    await clock.advance(500);
    expect(await long).toMatchObject({ error: { code: "TIMEOUT", details: { timeoutMs: 500 } } });
  });

  it("a cancelled tool is told, and ended after the grace", async () => {
    const { kernel, clock } = await openKernel();
    let told = false;
    kernel.registerTrusted(
      defineTool({
        name: "stubborn",
        version: "1.0.0",
        description: "Ignores its signal.",
        input: { type: "object" },
        output: { kind: "text" },
        execute: (_, { signal }) => {
          signal.addEventListener("abort", () => (told = true));
          return new Promise<string>(() => {});
        },
      }),
    );
    const controller = new AbortController();
    const pending = kernel.call("stubborn", {}, { signal: controller.signal });
    await clock.advance(10);
    controller.abort();
    expect(told).toBe(true);
    await clock.advance(250);
    expect(await pending).toMatchObject({ ok: false, error: { code: "CANCELLED" } });
    await expectSoundLog(kernel);
  });

  it("a call that was cancelled before it came never starts its tool", async () => {
    const { kernel, events } = await openKernel();
    let runs = 0;
    kernel.registerTrusted(toolOf(() => ++runs));
    const result = await kernel.call("subject", {}, { signal: AbortSignal.abort() });
    expect(result).toMatchObject({ ok: false, error: { code: "CANCELLED" } });
    expect(runs).toBe(0);
    expect((await events()).at(-1)).toMatchObject({ type: "tool.blocked", payload: { code: "CANCELLED" } });
  });

  it("leaves no timer behind", async () => {
    const { kernel, clock } = await openKernel();
    kernel.registerTrusted(echo);
    await kernel.call("echo", { message: "x" });
    await kernel.close();
    expect(clock.pendingTimers).toBe(0);
  });
});
