import {
  type CallError,
  type CallOptions,
  type CallResult,
  createKernel,
  type IsolateHost,
  type JsonValue,
  type Kernel,
  type LogEntry,
} from "@keyhole/kernel";
import { filesBroker, memoryStore } from "@keyhole/worker-host/brokers/files";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { FakeClock, passUntil } from "../support/fake-clock.ts";
import { expectSoundLog, openPolicy } from "../support/kernel.ts";
import { runsWhole } from "../support/part.ts";
import { bodyPortContract } from "./isolate-body.ts";
import { bodyKernelContract } from "./isolate-body-kernel.ts";
import { anyIsolateContract } from "./isolate-any.ts";
import { bytesContract } from "./isolate-bytes.ts";
import { anyScript, portContract } from "./isolate-port.ts";
import { quietContract } from "./isolate-quiet.ts";
import { streamPortContract } from "./isolate-stream.ts";
import { streamKernelContract } from "./isolate-stream-kernel.ts";
import { type HostTraits, kernelOn, subjectFor } from "./isolate-subject.ts";
import { sharedHost } from "./isolate-warm.ts";
import { registerAny } from "../support/registered.ts";

/** What every isolate host must do: first at its own port, then under a whole kernel. */
export function describeIsolateHost(name: string, makeHost: () => Promise<IsolateHost>, traits: HostTraits): void {
  describe(`the isolate host ${name}`, () => {
    const host = sharedHost(makeHost);
    describe("as any other", () => anyIsolateContract(host, anyScript, traits));
    describe("at its port", () => portContract(host, traits));
    describe("after the outcome", () => quietContract(host, traits));
    describe("under a kernel", () => kernelContract(host, traits));
    describe("with bytes", () => bytesContract(host, traits));
    describe("with streams, at its port", () => streamPortContract(host, traits));
    describe("with streams, under a kernel", () => streamKernelContract(host, traits));
    describe("with bodies, at its port", () => bodyPortContract(host, traits));
    describe("with bodies, under a kernel", () => bodyKernelContract(host, traits));
  });
}

function kernelContract(makeHost: () => Promise<IsolateHost>, { preempts, part }: HostTraits): void {
  const clock = new FakeClock();
  let kernel: Kernel;
  beforeAll(async () => {
    const host = await makeHost();
    const grants = [{ tool: "subject", capability: { kind: "fs.read", paths: ["public/**"] } }];
    const brokers = [filesBroker(memoryStore())];
    const policy = { ...openPolicy, grants };
    kernel = await kernelOn(host, subjectFor(host), { policy, brokers, clock });
  });
  afterAll(() => kernel.close());

  const call = (deed: string, value: JsonValue = null, options: CallOptions = {}): Promise<CallResult> =>
    kernel.call("subject", { deed, value }, { sessionId: "session", ...options });
  const codeOf = (result: CallResult): CallError["code"] | "OK" => (result.ok ? "OK" : result.error.code);

  /** The end of a call whose time is up as soon as its tool says that it has begun. */
  const outOfTime = async (
    deed: string,
    options: CallOptions = {},
    begun: () => void = () => {},
  ): Promise<CallResult> => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const result = call(deed, null, { ...options, bounds: { timeoutMs: 1_000 }, onLog: () => resolve() });
    return passUntil(clock, promise.then(begun), result);
  };

  /** Whatever a call did: the next one works, and the log has exactly one end for each. */
  const expectCode = async (expected: CallError["code"] | "OK", result: CallResult): Promise<void> => {
    expect(codeOf(result), JSON.stringify(result)).toBe(expected);
    const next = await call("echo", "next");
    expect(next, JSON.stringify(next)).toMatchObject({ ok: true, data: "next" });
    await expectSoundLog(kernel);
  };

  it("runs a good call", async () => {
    const result = await call("echo", { b: 1, a: "é" });
    await expectCode("OK", result);
    expect(result).toMatchObject({ data: { a: "é", b: 1 }, hash: expect.stringMatching(/^blake3:/) });
  });

  it("ends a tool that hangs at its deadline", async () => {
    await expectCode("TIMEOUT", await outOfTime("hang"));
  });

  it("kills a cancelled tool that does not listen, after the grace", async () => {
    const controller = new AbortController();
    const { signal } = controller;
    await expectCode("CANCELLED", await outOfTime("hang", { signal }, () => controller.abort()));
  });

  if (preempts) {
    it.each(["loop", "loop in promises"])("stops at the deadline a tool that does: %s", async (deed) => {
      await expectCode("TIMEOUT", await outOfTime(deed));
    });
  }

  it("keeps what one session left in memory from another", async () => {
    await call("remember", "mine", { sessionId: "a" });
    if (preempts) expect(await call("recall", null, { sessionId: "b" })).toMatchObject({ ok: true, data: null });
    expect(await call("recall", null, { sessionId: "a" })).toMatchObject({ ok: true, data: "mine" });
  });

  if (preempts) {
    it("is not touched by prototypes that a tool spoiled", async () => {
      const spoiled = { sessionId: "spoiled" };
      await call("spoil the prototypes", null, spoiled);
      expect("polluted" in {}).toBe(false);
      expect(await call("throw", null, spoiled)).toMatchObject({ ok: false, error: { code: "TOOL_ERROR" } });
      expect(await call("echo", [], { sessionId: "other" })).toMatchObject({ ok: true, data: [] });
      await expectSoundLog(kernel);
    });
  }

  // From here on nothing depends on the engine.
  if (!runsWhole(part)) return;

  it.each<[CallError["code"] | "OK", string]>([
    ["TOOL_ERROR", "throw"],
    ["TOOL_ERROR", "throw nothing"],
    ["TOOL_ERROR", "throw a proxy"],
    ["TOOL_ERROR", "claim a refusal"],
    ["INVALID_INPUT", "dance"],
    ["NOT_NORMALIZABLE", "function"],
    ["NOT_NORMALIZABLE", "cycle"],
    ["NOT_NORMALIZABLE", "lone surrogate"],
    ["NOT_NORMALIZABLE", "too deep"],
    ["NOT_NORMALIZABLE", "a proxy"],
    ["BOUNDS_EXCEEDED", "100 MB"],
    ["OK", "undefined"],
    ["OK", "speak after the end"],
    ["OK", "log nonsense"],
    ["OK", "log a novel"],
  ])("ends with %s a tool that does: %s", async (code, deed) => expectCode(code, await call(deed)));

  it("shows in the error what could not be a result", async () => {
    expect(await call("bigint")).toMatchObject({ error: { details: { path: "/n", unchecked: '{"n":1}' } } });
    expect(await call("undefined")).toMatchObject({ data: null });
  });

  it("refuses what was not granted, and says so", async () => {
    const result = await call("read", "private/file");
    await expectCode("CAPABILITY_DENIED", result);
    expect(!result.ok && result.error.message).not.toBe("");
  });

  it("lets a tool go on after a refusal that it caught", async () => {
    await expectCode("OK", await call("read and catch", "private/file"));
  });

  it("tells a missing file from a forbidden one", async () => {
    const missing = await call("read and catch", "public/missing");
    expect(missing).toMatchObject({ ok: true, data: { code: "NOT_FOUND" } });
  });

  it("gives the caller's listeners at most what a call may send", async () => {
    const lines: LogEntry[] = [];
    const result = await call("flood the log", null, { onLog: (entry) => lines.push(entry) });
    expect(["OK", "BOUNDS_EXCEEDED"]).toContain(codeOf(result));
    expect(lines.length).toBeLessThanOrEqual(1_000);
    await expectCode("OK", await call("echo"));
  });

  it("lets a cancelled tool end by itself within the grace", async () => {
    const controller = new AbortController();
    const result = call("hang until told", null, { signal: controller.signal });
    controller.abort();
    await expectCode("CANCELLED", await result);
  });

  it("says how a tool is, in the isolate of the session that is asked about, and runs nothing else of it", async () => {
    const ask = (sessionId: string) => kernel.health("subject", { sessionId });
    expect(await call("setups", null, { sessionId: "well" })).toMatchObject({ ok: true, data: 1 });
    expect(await ask("well")).toEqual({ state: "healthy" });
    expect(await call("setups", null, { sessionId: "well" })).toMatchObject({ ok: true, data: 1 });
    await call("remember", "ill", { sessionId: "ill" });
    expect(await ask("ill")).toEqual({ state: "unhealthy", reason: "It is ill." });
    await call("remember", "broken", { sessionId: "ill" });
    expect(await ask("ill")).toEqual({ state: "unhealthy", reason: "It broke." });
    if (preempts) {
      const stuck = call("remember", "stuck", { sessionId: "ill" });
      expect(
        await passUntil(
          clock,
          stuck,
          stuck.then(() => ask("ill")),
        ),
      ).toMatchObject({ state: "unreachable" });
    }
    await call("remember", null, { sessionId: "ill" });
    expect(await ask("ill")).toEqual({ state: "healthy" });
    await expectSoundLog(kernel);
  });

  it.each([
    ["always", "mine", "mine"],
    ["session", "mine", null],
    ["call", null, null],
  ] as const)("keeps memory for as long as it is told to: %s", async (reuse, inSession, inOther) => {
    const host = await makeHost();
    // Inline isolates share their module, whatever they are told.
    if (!host.sources.includes("module")) return expect(host.preempts).toBe(false);
    const own = await createKernel({ host, policy: openPolicy, cache: false, reuse: { subject: reuse } });
    registerAny(own, subjectFor(host));
    const ask = (deed: string, sessionId: string) => own.call("subject", { deed, value: "mine" }, { sessionId });
    expect(await ask("remember", "a")).toMatchObject({ ok: true });
    expect(await ask("recall", "a")).toMatchObject({ ok: true, data: inSession });
    expect(await ask("recall", "b")).toMatchObject({ ok: true, data: inOther });
    await own.close();
    return host.close();
  });

  if (preempts) {
    it("stops at the deadline, in real time, a tool that never yields", async () => {
      const host = await makeHost();
      const own = await kernelOn(host, subjectFor(host));
      const result = await own.call("subject", { deed: "loop" }, { bounds: { timeoutMs: 300 } });
      expect(result).toMatchObject({ ok: false, error: { code: "TIMEOUT" } });
      await own.close();
    });
  }
}
