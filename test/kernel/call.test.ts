import { defineTool, verifyProofDigest } from "@keyhole/kernel";
import { describe, expect, it } from "vitest";
import { echo, expectSoundLog, openKernel, toolOf } from "../support/kernel.ts";

describe("a call", () => {
  it("gives data, hash, proof and one event per step", async () => {
    const { kernel, events } = await openKernel();
    expect(kernel.registerTrusted(echo)).toMatchObject({ ok: true, value: { id: "echo@1.0.0" } });
    const result = await kernel.call("echo", { message: "hello" }, { caller: "ada", sessionId: "s1" });
    expect(result).toMatchObject({ ok: true, data: { message: "hello" }, tool: "echo@1.0.0", effects: [] });
    expect(result.ok && result.hash).toMatch(/^blake3:[0-9a-f]{64}$/);
    expect(verifyProofDigest(result.proof)).toEqual({ ok: true });
    expect(result.proof).toMatchObject({ decision: "allow", reasonCode: "posture", tier: 0, callId: result.callId });
    const log = await events();
    expect(log.map(({ type }) => type)).toEqual([
      "tool.registered",
      "call.invoked",
      "capability.checked",
      "policy.decided",
      "tool.started",
      "tool.completed",
    ]);
    expect(log.slice(1).every(({ sessionId, callId }) => sessionId === "s1" && callId === result.callId)).toBe(true);
    expect(JSON.stringify(log)).not.toContain("hello");
    await expectSoundLog(kernel);
  });

  it("gives the same output hash again, and for keys in another order", async () => {
    const { kernel } = await openKernel();
    kernel.registerTrusted(toolOf(({ swap }: { swap: boolean }) => (swap ? { b: 1, a: 2 } : { a: 2, b: 1 })));
    const one = await kernel.call("subject", { swap: false });
    const two = await kernel.call("subject", { swap: true });
    expect(one.ok && two.ok && one.hash === two.hash).toBe(true);
  });

  it("fills in defaults before the tool sees the input", async () => {
    const { kernel } = await openKernel();
    const input = { type: "object", properties: { times: { type: "integer", default: 3 } } } as const;
    kernel.registerTrusted(toolOf((given: unknown) => given, { input }));
    expect(await kernel.call("subject", {})).toMatchObject({ ok: true, data: { times: 3 } });
  });

  it("hands the tool a copy: neither side sees what the other changes", async () => {
    const { kernel } = await openKernel();
    const given = { list: [1] };
    kernel.registerTrusted(
      toolOf((input: { list: number[] }) => {
        input.list.push(2);
        return input;
      }),
    );
    expect(await kernel.call("subject", given)).toMatchObject({ ok: true, data: { list: [1, 2] } });
    expect(given).toEqual({ list: [1] });
  });

  it("takes the highest version, or the one that a range names", async () => {
    const { kernel } = await openKernel();
    for (const version of ["1.2.0", "1.10.0", "2.0.0-rc.1", "0.9.0"])
      kernel.registerTrusted(toolOf(() => version, { version }));
    const versionOf = async (range?: string) => {
      const result = await kernel.call("subject", {}, range === undefined ? {} : { version: range });
      return result.ok ? result.data : result.error.code;
    };
    expect(await versionOf()).toBe("2.0.0-rc.1");
    expect(await versionOf("^1.0.0")).toBe("1.10.0");
    expect(await versionOf("~1.2.0")).toBe("1.2.0");
    expect(await versionOf("0.9.0")).toBe("0.9.0");
    expect(await versionOf("3.x")).toBe("TOOL_NOT_FOUND");
    expect(await versionOf("latest")).toBe("TOOL_NOT_FOUND");
  });

  it("streams log, progress and events to the caller while it runs", async () => {
    const { kernel } = await openKernel();
    kernel.registerTrusted(
      defineTool({
        name: "talks",
        version: "1.0.0",
        description: "Reports.",
        input: { type: "object" },
        output: { kind: "text" },
        execute: (_, context) => {
          context.log("half way", "warn");
          context.progress({ done: 1, total: 2 });
          return "done";
        },
      }),
    );
    const seen: unknown[] = [];
    const options = {
      onLog: (entry: unknown) => seen.push(entry),
      onProgress: (progress: unknown) => seen.push(progress),
      onEvent: ({ type }: { type: string }) => seen.push(type),
    };
    expect(await kernel.call("talks", {}, options)).toMatchObject({ ok: true, data: "done" });
    expect(seen).toEqual([
      "call.invoked",
      "capability.checked",
      "policy.decided",
      "tool.started",
      { level: "warn", message: "half way" },
      { done: 1, total: 2 },
      "tool.completed",
    ]);
  });

  it("survives listeners that throw", async () => {
    const { kernel } = await openKernel();
    kernel.registerTrusted(echo);
    kernel.audit.subscribe(() => {
      throw new Error("listener");
    });
    const onEvent = () => {
      throw new Error("listener");
    };
    expect(await kernel.call("echo", { message: "x" }, { onEvent })).toMatchObject({ ok: true });
  });

  it("continues the caller's trace in a span of its own", async () => {
    const { kernel } = await openKernel();
    kernel.registerTrusted(echo);
    const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    const { meta } = await kernel.call("echo", { message: "x" }, { traceparent });
    expect(meta.traceparent).toMatch(/^00-0af7651916cd43dd8448eb211c80319c-[0-9a-f]{16}-01$/);
    expect(meta.traceparent).not.toBe(traceparent);
    const fresh = await kernel.call("echo", { message: "x" }, { traceparent: "00-nonsense" });
    expect(fresh.meta.traceparent).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/);
  });
});
