import { type AuditSink, IsolateFailure, memorySink } from "@keyhole/kernel";
import { describe, expect, it } from "vitest";
import { echo, openKernel, toolOf } from "../support/kernel.ts";
import { hostOpening, packed } from "../support/module-host.ts";

describe("the health of a kernel", () => {
  it("is ready, and runs and records nothing", async () => {
    const { kernel, events } = await openKernel();
    expect(await kernel.health()).toEqual({
      state: "ready",
      reasons: [],
      mode: "NORMAL",
      policyHash: kernel.policyHash,
      log: { isWritable: true, isVolatile: true, backlogEvents: 0, earlier: "verified" },
      openCalls: 0,
      quarantined: [],
    });
    expect(await events()).toEqual([]);
  });

  it("says that a log outlives the process, unless its sink says otherwise", async () => {
    const { isVolatile: _, ...keeping } = memorySink();
    const volatileOf = async (sink: AuditSink) => (await (await openKernel({ sink })).kernel.health()).log.isVolatile;
    expect(await volatileOf(keeping)).toBe(false);
    expect(await volatileOf(memorySink())).toBe(true);
  });

  it("is limited in a stricter mode, and counts the calls that are open", async () => {
    const { kernel } = await openKernel();
    const { promise: end, resolve } = Promise.withResolvers<void>();
    const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
    kernel.registerTrusted(toolOf(() => (begin(), end), { output: { kind: "json", schema: {} } }));
    const called = kernel.call("subject", {});
    await begun;
    await kernel.setMode("ALERT", "test");
    expect(await kernel.health()).toMatchObject({
      state: "limited",
      reasons: ["The mode is ALERT."],
      mode: "ALERT",
      openCalls: 1,
    });
    resolve();
    await called;
    expect(await kernel.health()).toMatchObject({ openCalls: 0 });
  });

  it("is unavailable once the log cannot be written", async () => {
    const sink = { ...memorySink(), append: () => Promise.reject(new Error("ENOSPC")) };
    const { kernel } = await openKernel({ sink });
    kernel.registerTrusted(echo);
    expect(await kernel.call("echo", { message: "a" })).toMatchObject({ error: { code: "AUDIT_UNAVAILABLE" } });
    expect(await kernel.health()).toMatchObject({ state: "unavailable", log: { isWritable: false, backlogEvents: 5 } });
    expect((await kernel.health()).reasons).toEqual([
      "The kernel cannot write the log. Open the kernel again: until then no call runs.",
    ]);
  });

  it("names the tools in quarantine", async () => {
    const open = () => Promise.reject(new IsolateFailure("ISOLATE_LOST", "It died."));
    const { kernel } = await openKernel({
      host: hostOpening("dying", open),
    });
    expect(kernel.register(packed(toolOf(() => null)))).toMatchObject({ ok: true });
    for (let failed = 0; failed < 3; failed++) await kernel.call("subject", {});
    expect(await kernel.health()).toMatchObject({
      state: "limited",
      reasons: ["subject@1.0.0 is in quarantine."],
      quarantined: ["subject@1.0.0"],
    });
  });
});
