import { hashJson, modelError, terminalTypes } from "@keyhole/kernel";
import { describe, expect, it } from "vitest";
import { echo, expectSoundLog, openKernel, toolOf } from "../support/kernel.ts";

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
      1,
    ],
    ["returns nothing", () => {}, undefined, null],
    ["returns lists of nothing", () => [undefined, { a: undefined }], undefined, [null, {}]],
  ])("a tool that %s", async (_, execute, code, text) => {
    const { kernel, events } = await openKernel();
    kernel.registerTrusted(toolOf(execute));
    kernel.registerTrusted(echo);
    const result = await kernel.call("subject", {});
    if (code === undefined) expect(result).toMatchObject({ ok: true, data: text });
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
      error: { code: "INVALID_OUTPUT", details: { errors: [{ path: "/n", keyword: "type" }], unchecked: '{"n":"1"}' } },
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
