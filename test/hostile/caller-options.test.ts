import type { CallOptions } from "@keyhole/kernel";
import { describe, expect, it } from "vitest";
import { echo, expectSoundLog, openKernel, toolOf } from "../support/kernel.ts";

const hostile = (options: unknown): CallOptions => options as CallOptions;

describe("a caller", () => {
  it.each([
    ["a number as version", { version: 1 }],
    ["null as version", { version: null }],
    ["bounds that are null", { bounds: null }],
    ["a list of bounds", { bounds: [] }],
    ["a bound of 0", { bounds: { concurrency: 0 } }],
    ["a negative bound", { bounds: { timeoutMs: -1 } }],
    ["NaN as a bound", { bounds: { timeoutMs: Number.NaN } }],
    ["Infinity as a bound", { bounds: { timeoutMs: Infinity } }],
    ["half a call an hour", { bounds: { callsPerHour: 0.5 } }],
    ["a bound as text", { bounds: { timeoutMs: "1" } }],
    ["an unknown bound", { bounds: { timoutMs: 1 } }],
    [
      "bounds with a getter that throws",
      { bounds: Object.defineProperty({}, "timeoutMs", { get: fail, enumerable: true }) },
    ],
    ["an object as its signal", { signal: {} }],
    ["null as its signal", { signal: null }],
    ["a number as a listener", { onEvent: 1 }],
    ["an object as its approver", { approver: {} }],
    ["text as options", "options"],
    ["options with a getter that throws", Object.defineProperty({}, "caller", { get: fail, enumerable: true })],
  ])("that passes %s gets INVALID_INPUT, and no tool runs", async (_, options) => {
    let runs = 0;
    const { kernel } = await openKernel();
    kernel.registerTrusted(toolOf(() => runs++));
    const result = await kernel.call("subject", {}, hostile(options));
    expect(result).toMatchObject({ ok: false, error: { code: "INVALID_INPUT" } });
    expect(runs).toBe(0);
    await expectSoundLog(kernel);
  });

  it.each([
    ["null", null],
    ["undefined", undefined],
    ["an object without a manifest", {}],
    ["a name that throws", { manifest: { name: { toString: fail }, version: "1.0.0" } }],
  ])("that names its tool by %s gets TOOL_NOT_FOUND", async (_, tool) => {
    const { kernel } = await openKernel();
    kernel.registerTrusted(echo);
    expect(await kernel.call(tool as never, {})).toMatchObject({ ok: false, error: { code: "TOOL_NOT_FOUND" } });
    await expectSoundLog(kernel);
  });

  it.each(["addEventListener", "removeEventListener"])(
    "whose signal throws in %s starts nothing or changes nothing, and leaves nothing behind",
    async (method) => {
      const { kernel, clock } = await openKernel();
      kernel.registerTrusted(echo);
      const { signal } = new AbortController();
      Object.defineProperty(signal, method, { value: fail });
      const result = await kernel.call("echo", { message: "m" }, { signal });
      if (method === "addEventListener") expect(result).toMatchObject({ ok: false, error: { code: "INVALID_INPUT" } });
      else expect(result).toMatchObject({ ok: true, meta: { warnings: [expect.stringContaining("release")] } });
      await kernel.close();
      expect(clock.pendingTimers).toBe(0);
      await expectSoundLog(kernel);
    },
  );

  it("whose signal aborts for a reason that throws is cancelled like any other", async () => {
    const { kernel } = await openKernel();
    const controller = new AbortController();
    kernel.registerTrusted(
      toolOf((_, { signal }: { readonly signal: AbortSignal }) => {
        controller.abort();
        return signal.aborted;
      }),
    );
    Object.defineProperty(controller.signal, "reason", { get: fail });
    const result = await kernel.call("subject", {}, { signal: controller.signal });
    expect(result).toMatchObject({ ok: false, error: { code: "CANCELLED" } });
  });

  it("that passes a package runs the version of that package, whatever its options say", async () => {
    const { kernel } = await openKernel();
    const versions = ["1.0.0", "2.0.0"].map((version) => toolOf(() => version, { version }));
    for (const each of versions) kernel.registerTrusted(each);
    const first = { manifest: { name: "subject", version: "1.0.0" } } as never;
    for (const options of [{ version: undefined }, { version: "2.0.0" }])
      expect(await kernel.call(first, {}, hostile(options))).toMatchObject({ ok: true, data: "1.0.0" });
  });

  it("cannot set a bound that the host does not enforce", async () => {
    const { kernel } = await openKernel();
    kernel.registerTrusted(echo);
    for (const bound of ["memoryBytes", "cpuMs", "fuel"] as const) {
      const result = await kernel.call("echo", { message: "x" }, { bounds: { [bound]: 1_000 } });
      expect(result).toMatchObject({ ok: false, error: { code: "UNSUPPORTED_HOST", details: { bounds: [bound] } } });
    }
  });

  it.each([
    ["two long names with the same beginning", `${"a".repeat(256)}1`, `${"a".repeat(256)}2`],
    ["two names with lone surrogates", "\ud800", "\ud801"],
    ["a lone surrogate and its replacement character", "\ud800", "\ufffd"],
  ])("that chooses %s gets two sessions and two callers", async (_, one, other) => {
    const { kernel, events } = await openKernel();
    kernel.registerTrusted(echo);
    await kernel.call("echo", { message: "x" }, { sessionId: one, caller: one });
    await kernel.call("echo", { message: "x" }, { sessionId: other, caller: other });
    const invoked = (await events()).filter(({ type }) => type === "call.invoked");
    expect(new Set(invoked.map(({ sessionId }) => sessionId)).size).toBe(2);
    expect(new Set(invoked.map(({ payload }) => (payload as { caller: string }).caller)).size).toBe(2);
    await expectSoundLog(kernel);
  });
});

function fail(): never {
  throw new Error("read me not");
}
