import type { CallOptions } from "@keyhole/kernel";
import { describe, expect, it } from "vitest";
import { echo, expectSoundLog, openKernel, toolOf } from "../support/kernel.ts";

const hostile = (options: unknown): CallOptions => options as CallOptions;

describe("a hostile caller", () => {
  it.each([
    ["a number as version", { version: 1 }],
    ["null as version", { version: null }],
    ["bounds that are null", { bounds: null }],
    ["bounds that are a list", { bounds: [] }],
    ["a bound of 0", { bounds: { concurrency: 0 } }],
    ["a negative bound", { bounds: { timeoutMs: -1 } }],
    ["a bound that is no number", { bounds: { timeoutMs: Number.NaN } }],
    ["a bound without end", { bounds: { timeoutMs: Infinity } }],
    ["half a call", { bounds: { callsPerHour: 0.5 } }],
    ["a bound as text", { bounds: { timeoutMs: "1" } }],
    ["an unknown bound", { bounds: { timoutMs: 1 } }],
    ["bounds that throw", { bounds: Object.defineProperty({}, "timeoutMs", { get: fail, enumerable: true }) }],
    ["a signal that is none", { signal: {} }],
    ["a signal that is null", { signal: null }],
    ["a listener that is none", { onEvent: 1 }],
    ["an approver that is none", { approver: {} }],
    ["options that are text", "options"],
    ["options that throw", Object.defineProperty({}, "caller", { get: fail, enumerable: true })],
  ])("with %s gets INVALID_INPUT, and nothing runs", async (_, options) => {
    let runs = 0;
    const { kernel } = await openKernel();
    kernel.register(toolOf(() => runs++));
    const result = await kernel.call("subject", {}, hostile(options));
    expect(result).toMatchObject({ ok: false, error: { code: "INVALID_INPUT" } });
    expect(runs).toBe(0);
    await expectSoundLog(kernel);
  });

  it.each([
    [
      { timoutMs: 1 },
      '/bounds: expected no property "timoutMs", got an object that has it.',
      'Did you mean "timeoutMs"?',
    ],
    [{ timeoutMs: 0 }, "/bounds/timeoutMs: expected a number of at least 1, got the number 0.", "Correct it."],
    [null, "/bounds: expected an object, got null.", "Leave it out."],
  ])("that wishes for the bounds %j is told where it went wrong", async (bounds, message, hint) => {
    const { kernel } = await openKernel();
    kernel.register(echo);
    const result = await kernel.call("echo", { message: "x" }, hostile({ bounds }));
    expect(result).toMatchObject({ ok: false, error: { code: "INVALID_INPUT", message, hint } });
  });

  it.each([
    ["null", null],
    ["undefined", undefined],
    ["an object without a manifest", {}],
    ["a name that throws", { manifest: { name: { toString: fail }, version: "1.0.0" } }],
  ])("that names its tool by %s is told that there is none", async (_, tool) => {
    const { kernel } = await openKernel();
    kernel.register(echo);
    expect(await kernel.call(tool as never, {})).toMatchObject({ ok: false, error: { code: "TOOL_NOT_FOUND" } });
    await expectSoundLog(kernel);
  });

  it("gets the version of the package that it calls with, whatever its options say", async () => {
    const { kernel } = await openKernel();
    const versions = ["1.0.0", "2.0.0"].map((version) => toolOf(() => version, { version }));
    for (const each of versions) kernel.register(each);
    const first = { manifest: { name: "subject", version: "1.0.0" } } as never;
    for (const options of [{ version: undefined }, { version: "2.0.0" }])
      expect(await kernel.call(first, {}, hostile(options))).toMatchObject({ ok: true, data: "1.0.0" });
  });
});

function fail(): never {
  throw new Error("read me not");
}
