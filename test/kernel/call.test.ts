import { defineTool, hashJson, modelError, terminalTypes, verifyProofDigest } from "@keyhole/kernel";
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

describe("a call that cannot succeed", () => {
  const cyclic: Record<string, unknown> = {};
  cyclic["self"] = cyclic;
  let deep: unknown = {};
  for (let i = 0; i < 10_000; i++) deep = { deep };

  it.each([
    ["an unknown tool", "ecko", { message: "x" }, "TOOL_NOT_FOUND"],
    ["a name from Object.prototype", "constructor", {}, "TOOL_NOT_FOUND"],
    ["a missing argument", "echo", {}, "INVALID_INPUT"],
    ["a wrong type", "echo", { message: 1 }, "INVALID_INPUT"],
    ["an unknown argument", "echo", { message: "x", mesage: "y" }, "INVALID_INPUT"],
    ["no object", "echo", "hello", "INVALID_INPUT"],
    ["nothing", "echo", undefined, "INVALID_INPUT"],
    ["an own __proto__", "echo", JSON.parse('{"message":"x","__proto__":{"admin":true}}'), "INVALID_INPUT"],
    ["a cycle", "echo", cyclic, "INVALID_INPUT"],
    ["a depth of 10,000", "echo", deep, "INVALID_INPUT"],
    ["a function", "echo", { message: () => "x" }, "INVALID_INPUT"],
    [
      "a getter",
      "echo",
      {
        get message() {
          return "x";
        },
      },
      "INVALID_INPUT",
    ],
    [
      "a proxy that throws",
      "echo",
      new Proxy(
        {},
        {
          ownKeys: () => {
            throw new Error("trap");
          },
        },
      ),
      "INVALID_INPUT",
    ],
    ["a lone surrogate", "echo", { message: "\ud800" }, "INVALID_INPUT"],
  ])("%s", async (_, tool, input, code) => {
    const { kernel, events } = await openKernel();
    kernel.registerTrusted(echo);
    const result = await kernel.call(tool, input);
    expect(result).toMatchObject({ ok: false, error: { code } });
    expect(result.ok || result.error.message).toBeTruthy();
    expect((await events()).at(-1)).toMatchObject({ type: "tool.blocked", payload: { code } });
    expect(await kernel.call("echo", { message: "next" })).toMatchObject({ ok: true });
    await expectSoundLog(kernel);
  });

  it("names the nearest tools, and the nearest argument", async () => {
    const { kernel } = await openKernel();
    kernel.registerTrusted(echo);
    const unknown = await kernel.call("ecko", {});
    expect(unknown).toMatchObject({ error: { code: "TOOL_NOT_FOUND", details: { nearest: ["echo"] } } });
    const typo = await kernel.call("echo", { message: "x", mesage: "y" });
    expect(typo.ok || JSON.stringify(typo.error)).toContain("message");
  });

  it.each([
    [
      "throws an error",
      () => {
        throw new TypeError("no");
      },
      "TOOL_ERROR",
      "no",
    ],
    [
      "throws a string",
      () => {
        throw "plain";
      },
      "TOOL_ERROR",
      "plain",
    ],
    [
      "throws undefined",
      () => {
        throw undefined;
      },
      "TOOL_ERROR",
      "",
    ],
    [
      "throws a hostile object",
      () => {
        throw new Proxy(
          {},
          {
            get: () => {
              throw new Error("trap");
            },
          },
        );
      },
      "TOOL_ERROR",
      "",
    ],
    ["rejects", () => Promise.reject(new Error("later")), "TOOL_ERROR", "later"],
    [
      "claims a refusal that it was never given",
      () => {
        throw Object.assign(new Error("x"), { code: "CAPABILITY_DENIED" });
      },
      "TOOL_ERROR",
      "x",
    ],
    ["returns a function", () => () => 1, "NOT_NORMALIZABLE", "function"],
    ["returns undefined", () => undefined, "NOT_NORMALIZABLE", "undefined"],
    ["returns a cycle", () => cyclic, "NOT_NORMALIZABLE", "cycle"],
    ["returns NaN", () => ({ a: Number.NaN }), "NOT_NORMALIZABLE", "/a"],
    ["returns a BigInt", () => [1n], "NOT_NORMALIZABLE", "/0"],
    ["returns a lone surrogate", () => "\udc00", "NOT_NORMALIZABLE", "lone-surrogate"],
    ["returns a Date", () => new Date(0), "NOT_NORMALIZABLE", "not-plain"],
    ["returns too much depth", () => deep, "NOT_NORMALIZABLE", "too-deep"],
    ["returns 100 MB", () => "x".repeat(100 << 20), "BOUNDS_EXCEEDED", "1048576"],
    [
      "returns a thenable that never settles twice",
      () => ({
        then: (yes: (v: unknown) => void) => {
          yes(1);
          yes(2);
        },
      }),
      undefined,
      "",
    ],
  ])("a tool that %s", async (_, execute, code, text) => {
    const { kernel, events } = await openKernel();
    kernel.registerTrusted(toolOf(execute));
    kernel.registerTrusted(echo);
    const result = await kernel.call("subject", {});
    if (code === undefined) expect(result).toMatchObject({ ok: true, data: 1 });
    else {
      expect(result).toMatchObject({ ok: false, error: { code } });
      expect(result.ok || JSON.stringify(result.error)).toContain(text);
      expect((await events()).at(-1)).toMatchObject({ type: "tool.failed", payload: { code } });
    }
    expect(await kernel.call("echo", { message: "next" })).toMatchObject({ ok: true });
    await expectSoundLog(kernel);
  });

  it("an output that breaks the contract", async () => {
    const { kernel } = await openKernel();
    kernel.registerTrusted(
      toolOf(() => ({ n: "1" }), {
        output: { kind: "json", schema: { type: "object", properties: { n: { type: "integer" } } } },
      }),
    );
    expect(await kernel.call("subject", {})).toMatchObject({
      ok: false,
      error: { code: "INVALID_OUTPUT", details: [{ path: "/n", keyword: "type" }] },
    });
  });

  it("neither arguments nor what a tool says reach the log", async () => {
    const { kernel, events } = await openKernel();
    kernel.registerTrusted(
      toolOf(({ pin }: { pin: string }) => {
        throw new Error(`wrong pin ${pin}`);
      }),
    );
    kernel.registerTrusted(echo);
    const failed = await kernel.call("subject", { pin: "canary-1" }, { correlationId: "order 7" });
    const refused = await kernel.call("echo", { "canary-2": "canary-3", message: "canary-4" });
    const log = await events();
    expect(JSON.stringify(log)).not.toContain("canary");
    expect(log.find(({ type }) => type === "call.invoked")).toMatchObject({ payload: { correlationId: "order 7" } });
    for (const result of [failed, refused]) {
      const end = log.find(({ type, callId }) => terminalTypes.includes(type) && callId === result.callId);
      expect(end).toMatchObject({ payload: { errorHash: result.ok || hashJson({ ...modelError(result.error) }) } });
    }
  });

  it("the tool's own check refuses", async () => {
    const { kernel } = await openKernel();
    kernel.registerTrusted(toolOf(() => 1, { check: () => "odd is not even" }));
    expect(await kernel.call("subject", {})).toMatchObject({
      ok: false,
      error: { code: "INVALID_INPUT" },
    });
  });
});
