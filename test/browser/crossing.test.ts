import { connectKernel, exposeKernel, type KernelClient } from "@keyhole/worker-host/browser";
import type { AuditEvent, Kernel } from "@keyhole/kernel";
import type { ToolContext } from "@keyhole/kernel/tool";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { echo, openKernel, toolOf } from "../support/kernel.ts";

const fail = (): never => {
  throw new Error("read me not");
};
const throwing = (name: string): object => Object.defineProperty({}, name, { get: fail, enumerable: true });
const revoked = (): object => {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
};
const cycle: Record<string, unknown> = {};
cycle["a/b"] = { cycle };

describe("a kernel at the other end of a message port", () => {
  let kernel: Kernel;
  let remote: KernelClient;
  let ports: readonly MessagePort[] = [];

  beforeEach(async () => {
    const { port1, port2 } = new MessageChannel();
    ports = [port1, port2];
    ({ kernel } = await openKernel());
    kernel.registerTrusted(echo);
    exposeKernel(kernel, port1);
    remote = connectKernel(port2);
  });
  afterEach(async () => {
    await remote.close();
    for (const port of ports) port.close();
  });

  it.each<[string, unknown]>([
    ["a function", () => 1],
    ["a function deep inside", { message: "x", "a/b": [{ "~": () => 1 }] }],
    ["a symbol", { message: Symbol("x") }],
    ["a key that is a symbol", { message: { [Symbol("x")]: 1 } }],
    ["a promise", { message: Promise.resolve("x") }],
    ["an instance of a class", { message: Object.create({}) as unknown }],
    ["a getter", throwing("message")],
    ["a proxy", { message: new Proxy({}, {}) }],
    ["a cycle", { message: cycle }],
    ["a number that is none", { message: Number.NaN }],
    ["a BigInt", { message: 1n }],
    ["nothing", undefined],
    ["what does not fit", { mesage: "x" }],
    ["what fits", { message: "x" }],
  ])("answers %s as one in the same realm does", async (_, input) => {
    const near = await kernel.call("echo", input);
    const far = await remote.call("echo", input);
    expect(far.ok ? far.data : far.error).toEqual(near.ok ? near.data : near.error);
  });

  it.each<[string, unknown]>([
    ["a caller that is a symbol", { caller: Symbol("ada") }],
    ["a bound that is a function", { bounds: { timeoutMs: () => 1 } }],
    ["bounds of a class", { bounds: Object.create({}) as unknown }],
    ["grants that are functions", { grants: [() => 1] }],
    ["a signal that is none", { signal: {} }],
    ["a signal that is null", { signal: null }],
    ["a listener that is none", { onEvent: 1 }],
    ["an approver that is none", { approver: {} }],
    ["an output that is none", { output: {} }],
    ["a body that is null", { body: null }],
    ["an unknown option that is a function", { later: () => 1, caller: "ada" }],
    ["null", null],
    ["text", "options"],
  ])("answers options with %s as one in the same realm does", async (_, options) => {
    const near = await kernel.call("echo", { message: "x" }, options as never);
    const far = await remote.call("echo", { message: "x" }, options as never);
    expect(far.ok ? far.data : far.error).toEqual(near.ok ? near.data : near.error);
  });

  it.each<[string, unknown, string]>([
    ["a proxy that was revoked", revoked(), "INVALID_INPUT"],
    ["data beyond all depth", JSON.parse("[".repeat(5_000) + "]".repeat(5_000)), "INVALID_INPUT"],
  ])("refuses %s", async (_, input, code) => {
    expect(await remote.call("echo", input)).toMatchObject({ ok: false, error: { code } });
  });

  it("refuses options that cannot be read, and a tool that cannot be named", async () => {
    const options = throwing("caller") as never;
    expect(await remote.call("echo", {}, options)).toMatchObject({ ok: false, error: { code: "INVALID_INPUT" } });
    for (const tool of [Symbol("echo"), null, throwing("manifest"), { manifest: { name: "echo", version: () => 1 } }])
      expect(await remote.call(tool as never, {})).toMatchObject({ ok: false, error: { code: "TOOL_NOT_FOUND" } });
    expect(await remote.health(Symbol("echo") as never)).toEqual(await kernel.health(Symbol("echo") as never));
  });

  it("refuses a policy that is no data", async () => {
    const document = { version: "1", posture: () => "strict" };
    expect(await remote.setPolicy(document)).toEqual(await kernel.setPolicy(document));
  });
});

it("keeps apart what two clients of one kernel end", async () => {
  const { port1, port2 } = new MessageChannel();
  const { kernel } = await openKernel();
  const ended = Promise.withResolvers<unknown>();
  let started = 0;
  const run = (_: unknown, { signal }: ToolContext): Promise<unknown> => {
    started++;
    const stopped = new Promise((_, reject) => {
      signal.addEventListener("abort", () => reject(new Error("It was stopped.")));
    });
    return Promise.race([ended.promise, stopped]);
  };
  kernel.registerTrusted(toolOf(run));
  exposeKernel(kernel, port1);
  const [one, other] = [connectKernel(port2), connectKernel(port2)];
  await Promise.all([one.ready(), other.ready()]);
  const heard: AuditEvent[] = [];
  const stop = one.audit.subscribe(() => {});
  other.audit.subscribe((event) => void heard.push(event));
  stop();
  const stopping = new AbortController();
  const [stopped, running] = [one, other].map((each, at) =>
    each.call("subject", {}, { sessionId: `s${at}`, ...(at === 0 && { signal: stopping.signal }) }),
  );
  await expect.poll(() => started).toBe(2);
  stopping.abort();
  expect(await stopped).toMatchObject({ ok: false, error: { code: "CANCELLED" } });
  ended.resolve("done");
  expect(await running).toMatchObject({ ok: true, data: "done" });
  await expect.poll(() => heard).not.toEqual([]);
  await one.close();
  for (const port of [port1, port2]) port.close();
});
