import { type AuditEvent, hashBytes, type LogEntry, type Progress } from "@keyhole/kernel";
import { connectKernel, type KernelClient, serveFrameContainer } from "@keyhole/worker-host/browser";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { poured } from "../contract/isolate-stream.ts";
import subject from "keyhole:../contract/tools/subject.ts";
import { bodySource, joined, sink } from "../support/streams.ts";

describe("a kernel in a worker of the page", () => {
  let worker: Worker;
  let kernel: KernelClient;
  beforeAll(() => {
    worker = new Worker("/test-pages/kernel.worker.js", { type: "module" });
    serveFrameContainer(worker);
    kernel = connectKernel(worker);
  });
  afterAll(async () => {
    await kernel.close();
    worker.terminate();
  });

  it("answers calls, also such as came before it was ready", async () => {
    expect(await kernel.call("subject", { deed: "echo", value: [1] })).toMatchObject({ ok: true, data: [1] });
    expect(await kernel.call(subject, { deed: "echo", value: 2 })).toMatchObject({
      ok: true,
      data: 2,
      tool: "subject@1.0.0",
    });
    expect(await kernel.call("nobody", {})).toMatchObject({ ok: false, error: { code: "TOOL_NOT_FOUND" } });
  });

  it("lists its tools", async () => {
    expect((await kernel.list()).map(({ id }) => id)).toEqual(["drink@1.0.0", "pour@1.0.0", "subject@1.0.0"]);
    expect(await kernel.list({ text: "nothing like it" })).toEqual([]);
  });

  it("streams events, logs and progress in order", async () => {
    const events: AuditEvent[] = [];
    const logs: LogEntry[] = [];
    const progresses: Progress[] = [];
    await kernel.call(
      "subject",
      { deed: "log and report" },
      {
        onEvent: (event) => events.push(event),
        onLog: (entry) => logs.push(entry),
        onProgress: (progress) => progresses.push(progress),
      },
    );
    expect(events.at(-1)?.type).toBe("tool.completed");
    expect(events.map(({ seq }) => seq)).toEqual(events.map(({ seq }) => seq).toSorted((a, b) => a - b));
    expect(logs).toEqual([{ level: "warn", message: "one" }]);
    expect(progresses).toEqual([{ done: 1, total: 2, message: "half" }]);
  });

  it("lets the page take a stream, no faster than the page does", async () => {
    const { output, pieces, ends } = sink(() => new Promise((resolve) => setTimeout(resolve, 1)));
    const result = await kernel.call("pour", { deed: "pour", pieces: 20, length: 20_000 }, { output });
    expect(result).toMatchObject({ ok: true, data: { byteLength: 400_000, digest: hashBytes(poured(20, 20_000)) } });
    expect(joined(pieces)).toEqual(poured(20, 20_000));
    await expect.poll(() => ends).toEqual(["closed"]);
  });

  it("cancels when the page takes no more, and aborts the page's stream when there is no result", async () => {
    const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
    const reader = readable.getReader();
    const result = kernel.call("pour", { deed: "pour and hang", pieces: 1, length: 10 }, { output: writable });
    expect((await reader.read()).value).toEqual(poured(1, 10));
    await reader.cancel();
    expect(await result).toMatchObject({ ok: false, error: { code: "CANCELLED" } });
    const { output, ends } = sink();
    const failed = await kernel.call("pour", { deed: "throw midway", pieces: 2, length: 10 }, { output });
    expect(failed).toMatchObject({ ok: false, error: { code: "TOOL_ERROR" } });
    await expect.poll(() => ends).toEqual(["Error: on purpose"]);
  });

  it("refuses a stream that somebody else writes to", async () => {
    const { output } = sink();
    output.getWriter();
    expect(await kernel.call("pour", { deed: "pour" }, { output })).toMatchObject({
      ok: false,
      error: { code: "INVALID_INPUT" },
    });
  });

  it("lets the page give a body, no faster than the tool reads", async () => {
    const { output, pieces } = sink();
    const { body, ends } = bodySource([poured(20, 20_000), new Uint8Array([1, 2])]);
    expect(await kernel.call("drink", { deed: "echo" }, { body, output })).toMatchObject({ ok: true });
    expect(joined(pieces)).toEqual(joined([poured(20, 20_000), new Uint8Array([1, 2])]));
    expect(ends).toEqual([]);
    const tasted = bodySource(Array.from({ length: 9 }, () => new Uint8Array(10)));
    expect(await kernel.call("drink", { deed: "taste" }, { body: tasted.body })).toMatchObject({ ok: true });
    await expect.poll(() => tasted.ends).toEqual(["The call has ended."]);
    expect(tasted.given()).toBe(1);
  });

  it.each<[string, unknown, string]>([
    ["breaks off", new Error("gone"), "CANCELLED"],
    ["is no bytes", "text", "INVALID_INPUT"],
    ["is nothing", undefined, "INVALID_INPUT"],
    ["cannot leave the page", () => {}, "CANCELLED"],
  ])("fails a call whose body %s", async (_, chunk, code) => {
    const { body } = bodySource(chunk instanceof Error ? [] : [chunk as Uint8Array], () => {
      throw chunk;
    });
    const result = await kernel.call("drink", { deed: "catch what happens" }, { body });
    expect(result).toMatchObject({ ok: false, error: { code } });
  });

  it("refuses a body that somebody else reads", async () => {
    const { body } = bodySource([]);
    body.getReader();
    expect(await kernel.call("drink", { deed: "count" }, { body })).toMatchObject({
      ok: false,
      error: { code: "INVALID_INPUT" },
    });
  });

  it("hears a signal", async () => {
    const controller = new AbortController();
    const result = kernel.call("subject", { deed: "hang" }, { signal: controller.signal });
    controller.abort();
    expect(await result).toMatchObject({ ok: false, error: { code: "CANCELLED" } });
    expect(await kernel.call("subject", { deed: "echo" }, { signal: controller.signal })).toMatchObject({
      ok: false,
      error: { code: "CANCELLED" },
    });
  });

  it("stops a tool that never yields while the page stays free", async () => {
    const started = performance.now();
    const result = await kernel.call("subject", { deed: "loop" }, { bounds: { timeoutMs: 300 } });
    expect(result).toMatchObject({ ok: false, error: { code: "TIMEOUT" } });
    // Far below what the engine lets the terminated thread go on for.
    expect(performance.now() - started).toBeLessThan(1_900);
    expect(await kernel.call("subject", { deed: "echo", value: "next" })).toMatchObject({ ok: true, data: "next" });
  });

  it("asks the page's approver, and denies without one", async () => {
    const asked: unknown[] = [];
    const result = await kernel.call(
      "subject",
      { deed: "echo", value: 1 },
      {
        caller: "asked",
        approver: async ({ tool, input, reason }) => {
          asked.push({ tool, input, reason });
          return { answer: "allow", scope: "once", approver: "tester" };
        },
      },
    );
    expect(result).toMatchObject({ ok: true, data: 1 });
    expect(asked).toEqual([{ tool: "subject@1.0.0", input: { deed: "echo", value: 1 }, reason: "It is asked." }]);
    expect(await kernel.call("subject", { deed: "echo" }, { caller: "asked" })).toMatchObject({
      ok: false,
      error: { code: "APPROVAL_DENIED" },
    });
  });

  it("tells the approver when the approval is closed", async () => {
    const controller = new AbortController();
    let withdrawn = false;
    const result = kernel.call(
      "subject",
      { deed: "echo" },
      {
        caller: "asked",
        signal: controller.signal,
        approver: (_, signal) =>
          new Promise(() => {
            signal.addEventListener("abort", () => (withdrawn = true));
            controller.abort();
          }),
      },
    );
    expect(await result).toMatchObject({ ok: false, error: { code: "CANCELLED" } });
    await expect.poll(() => withdrawn).toBe(true);
  });

  it("gives its log, and everything new in it", async () => {
    const heard: AuditEvent[] = [];
    const stop = kernel.audit.subscribe((event) => heard.push(event));
    const result = await kernel.call("subject", { deed: "echo" });
    await expect
      .poll(() => heard.some(({ type, callId }) => type === "tool.completed" && callId === result.callId))
      .toBe(true);
    stop();
    const count = heard.length;
    await kernel.call("subject", { deed: "echo" });
    const log = await kernel.audit.read();
    expect(log.length).toBeGreaterThan(count);
    expect(heard.length).toBe(count);
    expect(log.find(({ hash }) => hash === heard[0]!.hash)).toEqual(heard[0]);
  });

  it("refuses what no message carries as a kernel in the page does", async () => {
    const message = 'The input is not plain JSON data: function at "/value/0".';
    expect(await kernel.call("subject", { deed: "echo", value: [() => 1] })).toMatchObject({
      ok: false,
      error: { code: "INVALID_INPUT", message, details: [{ path: "/value/0", keyword: "function" }] },
    });
    for (const options of [
      { caller: Symbol("ada") },
      { bounds: { timeoutMs: () => 1 } },
      { signal: {} },
      { onEvent: 1 },
      null,
    ])
      expect(await kernel.call("subject", { deed: "echo" }, options as never)).toMatchObject({
        ok: false,
        error: { code: "INVALID_INPUT" },
      });
    expect(await kernel.call(Symbol("subject") as never, {})).toMatchObject({ error: { code: "TOOL_NOT_FOUND" } });
    expect(await kernel.setPolicy({ version: () => "1" })).toMatchObject({ error: { code: "INVALID_POLICY" } });
  });

  it("changes mode and policy", async () => {
    const before = await kernel.policyHash();
    expect(await kernel.setPolicy({ version: "1", posture: "imaginary" })).toMatchObject({
      ok: false,
      error: { code: "INVALID_POLICY" },
    });
    expect(await kernel.policyHash()).toBe(before);
    await kernel.setMode("ALERT", "a drill");
    expect(await kernel.mode()).toBe("ALERT");
  });
});
