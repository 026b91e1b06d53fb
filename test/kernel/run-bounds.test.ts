import {
  type AuditSink,
  type IsolateCall,
  type IsolateHost,
  type Kernel,
  type KernelOptions,
  memorySink,
} from "@keyhole/kernel";
import { readRun, recordingHost, replay, type RunEntry, writeRun } from "@keyhole/kernel/replay";
import { describe, expect, it } from "vitest";
import { FakeClock } from "../support/fake-clock.ts";
import { openKernel, openPolicy, toolOf } from "../support/kernel.ts";
import { registered } from "../support/registered.ts";
import { settled } from "../support/turns.ts";
import { moduleHost, packed } from "../support/module-host.ts";

const declared = { timeoutMs: 5_000, fuel: 9_000, memoryBytes: 9_000_000, outputBytes: 9_000 };
const governed = { timeoutMs: 100, fuel: 70, memoryBytes: 7_000_000, outputBytes: 700 };
const policy = { ...openPolicy, tools: { subject: { bounds: governed } } };

/** Each way in which a kernel runs a tool. */
const ways: readonly (readonly [string, (kernel: Kernel) => Promise<unknown>])[] = [
  ["a call", (kernel) => kernel.call("subject", {})],
  ["a health check", (kernel) => kernel.health("subject")],
  ["a check of purity", (kernel) => kernel.verifyPure("subject", [{}])],
];

async function open(options: KernelOptions, code: object = {}, machine?: Promise<void>) {
  const clock = new FakeClock();
  const tool = toolOf(() => 1, { bounds: declared, ...code });
  const modules = moduleHost(tool);
  const calls: IsolateCall[] = [];
  const host: IsolateHost = {
    ...modules,
    enforces: ["fuel", "memoryBytes"],
    async open(...args) {
      await machine;
      const isolate = await modules.open(...args);
      const { call } = isolate;
      return Object.assign(isolate, {
        call: (given: IsolateCall, port: Parameters<typeof call>[1]) => (calls.push(given), call(given, port)),
      });
    },
  };
  const entries: RunEntry[] = [];
  const recording = recordingHost(host, (entry) => entries.push(entry));
  const { kernel } = await openKernel({ host: recording, clock, cache: false, ...options });
  expect(kernel.register(packed(tool))).toMatchObject({ ok: true });
  return { kernel, clock, calls, opened: modules.opened, entries, host, pkg: packed(tool) };
}

describe("the bounds of a policy", () => {
  it.each(ways)("hold in %s", async (way, run) => {
    const { kernel, calls } = await open({ policy });
    await run(kernel);
    const { timeoutMs: _, ...bounds } = governed;
    const outputBytes = way === "a health check" ? 4 : bounds.outputBytes;
    expect(calls).not.toEqual([]);
    for (const call of calls) expect(call).toMatchObject({ ...bounds, outputBytes });
  });

  it.each(ways)("end %s that takes longer", async (_, run) => {
    const never = () => new Promise(() => {});
    const { kernel, clock, opened } = await open({ policy }, { execute: never, health: never });
    let hasEnded = false;
    void run(kernel).finally(() => (hasEnded = true));
    await clock.advance(governed.timeoutMs);
    await settled();
    expect(hasEnded).toBe(true);
    expect(opened.map(({ terminated }) => terminated)).not.toContain(undefined);
  });

  it.each(ways.slice(1))("count in %s from the moment at which it begins", async (_, run) => {
    const written = Promise.withResolvers<void>();
    const sink = memorySink();
    const slow: AuditSink = { ...sink, append: (records) => written.promise.then(() => sink.append(records)) };
    const { kernel, calls } = await open({ policy: openPolicy, sink: slow });
    const changed = kernel.setPolicy(policy);
    await settled();
    const running = run(kernel);
    written.resolve();
    await Promise.all([changed, running]);
    expect(calls.at(-1)).toMatchObject({ fuel: governed.fuel });
  });

  it.each(ways)("end %s whose isolate opens too late", async (_, run) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const { kernel, clock, opened, calls } = await open({ policy }, {}, promise);
    let hasEnded = false;
    void run(kernel).finally(() => (hasEnded = true));
    await clock.advance(governed.timeoutMs);
    await settled();
    expect(hasEnded).toBe(true);
    resolve();
    await kernel.close();
    await settled();
    expect(calls).toEqual([]);
    expect(opened.map(({ terminated }) => terminated)).not.toContain(undefined);
  });

  it("hold in a replay as in the call", async () => {
    const { kernel, calls, entries, host, clock, pkg } = await open({ policy });
    await kernel.call("subject", {});
    const read = await readRun(writeRun({ entries }).split("\n"));
    if (!read.ok) throw new Error(read.reason);
    expect(await replay(read.run, { host, tools: [registered(pkg)], clock })).toEqual({ ok: true, calls: 1 });
    const [then, again] = calls;
    expect(again).toEqual(then);
  });
});
