import { type CallOptions, IsolateFailure, type IsolateHost, type KernelOptions } from "@keyhole/kernel";
import { describe, expect, it } from "vitest";
import { FakeClock } from "../support/fake-clock.ts";
import { expectSoundLog, openKernel, toolOf } from "../support/kernel.ts";
import { moduleHost, packed } from "../support/module-host.ts";
import { settled } from "../support/turns.ts";

async function asking(
  health: unknown,
  more: Record<string, unknown> = {},
  options: KernelOptions = {},
  host: Partial<IsolateHost> = {},
) {
  const clock = new FakeClock();
  let executed = 0;
  const tool = toolOf(() => ++executed, { determinism: "external", health, ...more });
  const modules = moduleHost(tool);
  const opened = await openKernel({ host: { ...modules, ...host }, clock, ...options });
  expect(opened.kernel.register(packed(tool))).toMatchObject({ ok: true });
  return { ...opened, clock, modules, executed: () => executed };
}

describe("a health check", () => {
  it.each([
    ["nothing", () => undefined, { state: "healthy" }],
    ["a sentence", () => "The index is missing.", { state: "unhealthy", reason: "The index is missing." }],
    ["a sentence, later", async () => "No.", { state: "unhealthy", reason: "No." }],
    [
      "something else",
      () => true,
      { state: "unhealthy", reason: "health returned a value that is neither a string nor undefined" },
    ],
    [
      "an exception",
      () => {
        throw new Error("It broke.");
      },
      { state: "unhealthy", reason: "It broke." },
    ],
  ])("of a tool that answers with %s", async (_, health, state) => {
    const { kernel, executed } = await asking(health);
    expect(await kernel.health("subject")).toEqual(state);
    expect(executed()).toBe(0);
  });

  it("is one of `setup` where a tool has no more to say", async () => {
    const fails = () => {
      throw new Error("No index.");
    };
    expect(await (await asking(undefined)).kernel.health("subject")).toEqual({ state: "healthy" });
    const broken = await asking(undefined, { setup: fails });
    expect(await broken.kernel.health("subject")).toEqual({ state: "unhealthy", reason: "No index." });
  });

  it("leaves the streams of a call alone whose options it is given", async () => {
    const { kernel } = await asking(undefined);
    const options: CallOptions = {
      caller: "ada",
      output: new WritableStream<Uint8Array>(),
      body: new ReadableStream<Uint8Array>(),
    };
    for (let times = 0; times < 2; times++)
      expect(await kernel.health("subject", options)).toEqual({ state: "healthy" });
    expect([options.output?.locked, options.body?.locked]).toEqual([false, false]);
  });

  it("is on record before anything of the tool runs, and afterwards", async () => {
    let recorded: readonly string[] = [];
    const { kernel, events } = await asking(async () => {
      recorded = (await events()).map(({ type }) => type);
      return "Words of the tool.";
    });
    await kernel.health("subject", { caller: "ada" });
    expect(recorded).toEqual(["tool.registered", "health.asked"]);
    const answered = (await events()).at(-1);
    expect(answered).toMatchObject({ type: "health.answered", payload: { caller: "ada", state: "unhealthy" } });
    expect(JSON.stringify(answered)).not.toContain("Words");
    await expectSoundLog(kernel);
  });

  it("does not run when the log cannot be written", async () => {
    let ran = false;
    const { kernel } = await asking(
      () => {
        ran = true;
      },
      {},
      {
        sink: {
          open: () => ({ last: undefined, cutBytes: 0, damage: null }),
          append: () => {
            throw new Error("full");
          },
          read: () => [],
        },
      },
    );
    await expect(kernel.health("subject")).rejects.toThrow("The audit log cannot be written.");
    expect(ran).toBe(false);
  });

  it("has an end: at two seconds, or at the tool's own timeout", async () => {
    for (const [timeoutMs, atMs] of [
      [10_000, 2_000],
      [100, 100],
    ] as const) {
      const { kernel, clock, modules } = await asking(() => new Promise(() => {}), { bounds: { timeoutMs } });
      let answer: unknown;
      void kernel.health("subject").then((health) => (answer = health));
      await settled();
      await clock.advance(atMs - 1);
      expect(answer).toBeUndefined();
      await clock.advance(1);
      expect(answer).toMatchObject({ state: "unreachable" });
      expect(modules.opened[0]?.terminated).toBe("deadline");
    }
  });

  it("asks nobody who is not there, or whom the mode denies", async () => {
    const { kernel, modules } = await asking(() => undefined, { tier: 2 });
    expect(await kernel.health("subjekt")).toMatchObject({ state: "unchecked" });
    expect(await kernel.health("subject", { version: "^9.0.0" })).toMatchObject({ state: "unchecked" });
    expect(await kernel.health(null as never)).toMatchObject({ state: "unchecked" });
    await kernel.setMode("LOCKDOWN", "test");
    expect(await kernel.health("subject")).toEqual({
      state: "unchecked",
      reason: "subject@1.0.0 does not run in LOCKDOWN.",
    });
    expect(modules.opened).toEqual([]);
  });

  it("gives no capability to a guest that asks for one", async () => {
    let reply: unknown;
    const { kernel } = await asking(
      undefined,
      {},
      {},
      {
        open: async () => ({
          alive: true,
          terminate: () => {},
          call: async (_, port) => {
            reply = await port.request({ kind: "fs.read", operation: "read", arguments: { path: "x" } });
            return { kind: "returned", output: { form: "json", text: "null" } };
          },
        }),
      },
    );
    expect(await kernel.health("subject")).toEqual({ state: "healthy" });
    expect(reply).toMatchObject({ ok: false, error: { code: "CAPABILITY_DENIED" } });
  });
});

describe("quarantine", () => {
  const dying: Partial<IsolateHost> = {
    open: () => Promise.reject(new IsolateFailure("ISOLATE_LOST", "It died.")),
  };

  it("begins with failed checks as with failed calls, is told, shown and recorded, and opens nothing", async () => {
    const { kernel, clock, events } = await asking(undefined, {}, {}, dying);
    expect(await kernel.health("subject", { caller: "eve" })).toEqual({ state: "unreachable", reason: "It died." });
    await kernel.call("subject", {}, { caller: "eve" });
    expect(kernel.list()[0]).not.toHaveProperty("quarantine");
    await kernel.health("subject", { caller: "eve" });

    expect(kernel.list()[0]?.quarantine).toEqual({ callers: 1, retryAfterMs: 1_000 });
    expect((await events()).filter(({ type }) => type === "tool.quarantined")).toMatchObject([
      { callId: null, payload: { tool: "subject@1.0.0", caller: "eve", failures: 3, restMs: 1_000 } },
    ]);
    await clock.advance(400);
    expect(await kernel.health("subject", { caller: "eve" })).toEqual({
      state: "quarantined",
      reason: "subject@1.0.0 is in quarantine: its isolate failed 3 times in a row.",
      retryAfterMs: 600,
    });
    expect(await kernel.health("subject", { caller: "ada" })).toMatchObject({ state: "unreachable" });
    await clock.advance(600);
    expect(kernel.list()[0]).not.toHaveProperty("quarantine");
    await kernel.health("subject", { caller: "eve" });
    expect(kernel.list()[0]?.quarantine).toEqual({ callers: 1, retryAfterMs: 2_000 });
    await expectSoundLog(kernel);
  });
});
