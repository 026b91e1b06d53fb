import type { JsonValue } from "@keyhole/kernel";
import { BodyReader } from "@keyhole/kernel/foreign";
import { describe, expect, it, vi } from "vitest";
import { bodyLimits, readBody } from "../../packages/edge/src/app/body.ts";
import * as limits from "../../packages/kernel/src/limits.ts";
import { expectSoundLog, openKernel, toolOf } from "../support/kernel.ts";
import { countTurns } from "../support/turns.ts";

// A step that looks at each of many values has a turn of the event loop of its own. These tests count turns, and no time.

/** An array of arrays, with so many values in all. */
const valuesOf = (count: number): JsonValue => Array.from({ length: count - 1 }, () => 1);

const objects = { type: "object", properties: { list: { type: "array" } } };

async function turnsOf(work: () => Promise<unknown>): Promise<number> {
  const others = countTurns();
  await work();
  return others.stop();
}

describe("the input of a call", () => {
  it.each([
    ["few", limits.turnNodes, 0],
    ["many", limits.turnNodes + 1, 2],
  ])("with %s values is checked and written in turns of their own", async (_, count, turns) => {
    const { kernel } = await openKernel();
    kernel.registerTrusted(toolOf(() => 1, { input: objects }));
    const call = (list: JsonValue): Promise<unknown> => kernel.call("subject", { list });
    await call(1); // The first call of a process can wait for a module.
    const least = await turnsOf(() => call(1));
    expect((await turnsOf(() => call(valuesOf(count - 1)))) - least).toBeGreaterThanOrEqual(turns);
    expect(await kernel.preview("subject", { list: valuesOf(count) })).toMatchObject({ decision: "allow" });
    await expectSoundLog(kernel);
  });

  it("is what it was when the call was made, whatever its owner writes between the turns", async () => {
    const { kernel } = await openKernel();
    const execute = ({ list }: { readonly list: readonly number[] }): number =>
      list.reduce((sum, each) => sum + each, 0);
    kernel.registerTrusted(toolOf(execute, { input: objects }));
    const list = Array.from({ length: 50_000 }, () => 1);
    const others = countTurns(() => list.fill(2));
    expect(await kernel.call("subject", { list })).toMatchObject({ ok: true, data: 50_000 });
    others.stop();
  });

  it("that does not fit its schema is refused after its turns, on record", async () => {
    const { kernel } = await openKernel();
    kernel.registerTrusted(toolOf(() => 1, { input: { ...objects, required: ["other"] } }));
    const list = valuesOf(50_000);
    expect(await kernel.call("subject", { list })).toMatchObject({ ok: false, error: { code: "INVALID_INPUT" } });
    expect(await kernel.preview("subject", { list })).toMatchObject({
      decision: "deny",
      error: { code: "INVALID_INPUT" },
    });
    await expectSoundLog(kernel);
  });

  it("of a call that is cancelled between them runs nothing", async () => {
    const { kernel } = await openKernel();
    let ran = 0;
    kernel.registerTrusted(toolOf(() => ++ran, { input: objects }));
    const cancel = new AbortController();
    const others = countTurns(() => cancel.abort());
    const result = await kernel.call("subject", { list: valuesOf(50_000) }, { signal: cancel.signal });
    others.stop();
    expect([result, ran]).toMatchObject([{ ok: false, error: { code: "CANCELLED" } }, 0]);
  });
});

describe("the output of a call", () => {
  it.each([
    ["few", limits.turnNodes, 0],
    ["many", limits.turnNodes + 1, 2],
  ])("with %s values is written and checked in turns of their own", async (_, count, turns) => {
    const { kernel } = await openKernel();
    let output: JsonValue = 1;
    kernel.registerTrusted(toolOf(() => output, { output: { kind: "json", schema: {} } }));
    const least = await turnsOf(() => kernel.call("subject", {}));
    output = valuesOf(count);
    expect((await turnsOf(() => kernel.call("subject", {}))) - least).toBeGreaterThanOrEqual(turns);
    await expectSoundLog(kernel);
  });
});

describe("the body of a request to the edge", () => {
  it.each([
    ["short", bodyLimits.turnUnits, 0],
    ["long", bodyLimits.turnUnits + 1, 4],
  ])("that is %s is counted, parsed and checked in turns of their own", async (_, length, turns) => {
    const body = `"${"x".repeat(length - 2)}"`;
    const request = new Request("https://edge.test/", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body,
    });
    const timers = vi.spyOn(globalThis, "setTimeout");
    expect(await readBody(request, (_what, value) => value, { bodies: new BodyReader(), subject: "desk" })).toBe(
      JSON.parse(body),
    );
    const waits = timers.mock.calls.filter(([, delayMs]) => delayMs === 0).length;
    timers.mockRestore();
    expect(waits).toBe(turns);
  });
});
