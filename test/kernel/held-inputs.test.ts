import { describe, expect, it } from "vitest";
import { Limiter } from "../../packages/kernel/src/bounds/limiter.ts";
import * as limits from "../../packages/kernel/src/limits.ts";
import { FakeClock, settle } from "../support/fake-clock.ts";
import { openKernel, toolOf } from "../support/kernel.ts";

const details = { bound: "heldInputBytes", limit: limits.heldInputBytes, retryAfterMs: 1_000 };
const refused = { ok: false, error: { code: "RATE_LIMITED", details, retryable: true } };

describe("arguments of calls that are not over", () => {
  it("have a bound in bytes, of which a caller leaves as much free as it has", () => {
    const clock = new FakeClock();
    const limiter = new Limiter(clock);
    const hold = (caller: string) => limiter.holdInput(caller, limits.inputBytes);
    const held = [hold("mallory"), hold("mallory"), hold("mallory"), hold("mallory")];
    expect(held).not.toContain(undefined);
    expect(hold("mallory")).toBeUndefined();
    expect([hold("ada"), hold("ada"), hold("ada")]).toEqual([expect.any(Function), expect.any(Function), undefined]);
    held[0]!();
    expect(hold("bob")).toBeDefined();
  });

  it("count while they run, wait for a slot or wait for a person, by text and by values, until the call is over", async () => {
    const gate = Promise.withResolvers<void>();
    const { kernel } = await openKernel({
      policy: { version: "1", posture: "standard" },
      approver: () => gate.promise.then(() => ({ answer: "allow", scope: "once", approver: "ann" }) as const),
    });
    const body = () => gate.promise.then(() => 1);
    kernel.registerTrusted(toolOf(body, { name: "runs", tier: 1, bounds: { concurrency: 1 } }));
    kernel.registerTrusted(toolOf(body, { name: "asks", tier: 2 }));
    // Half a megabyte of text.
    const input = { list: Array.from({ length: 99_000 }, () => null) };
    const call = (tool: string, caller: string) => kernel.call(tool, input, { caller });
    const calls = ["runs", "runs", "asks", "asks", "asks"].map((tool) => call(tool, "mallory"));
    expect(await call("asks", "mallory")).toMatchObject(refused);
    const ada = call("asks", "ada");
    await settle();
    gate.resolve();
    expect(await Promise.all([ada, ...calls])).toMatchObject(Array.from({ length: 6 }, () => ({ ok: true, data: 1 })));
    expect(await call("runs", "mallory")).toMatchObject({ ok: true });
  });
});
