import { type AuditEvent, type CallFailure, type CallSuccess, type ErrorCode, errorCodes } from "@keyhole/kernel";
import { beforeEach, describe, expect, it } from "vitest";
import { callProblem } from "../../packages/edge/src/app/problem.ts";
import { problemOf } from "./problem.ts";
import { openService, readEvents, type Service, untilAsked } from "./service.ts";

let service: Service;

beforeEach(async () => {
  service = await openService();
});

describe("a call that succeeds", () => {
  it("is answered with its result", async () => {
    const response = await service.call("echo", { input: { message: "hello" } });
    expect(response.status).toBe(200);
    expect(response.headers.get("content-type")).toContain("application/json");
    const result: CallSuccess = await response.json();
    expect(result).toMatchObject({
      ok: true,
      data: { message: "hello" },
      tool: "echo@1.2.0",
      effects: [],
      proof: { decision: "allow" },
    });
    expect(result.hash).toMatch(/^[\w-]+:[0-9a-f]{64}$/);
  });

  it("takes the version that it names", async () => {
    const response = await service.call("echo", { input: {}, version: "~1.0.0" });
    expect(await response.json()).toMatchObject({ data: "old", tool: "echo@1.0.0" });
  });

  it("carries bytes as base64 and says so", async () => {
    const response = await service.call("bytes", { input: { count: 20_000 } });
    const { data, encoding } = await response.json<{ data: string; encoding: string }>();
    expect(encoding).toBe("base64");
    expect([...atob(data)].map((unit) => unit.charCodeAt(0))).toEqual(
      Array.from({ length: 20_000 }, (_, i) => i % 256),
    );
  });

  it.each(["a, b", '"a", "b"', "a,b"])("is refused with two idempotency keys: %s", async (key) => {
    const response = await service.call("echo", { input: { message: "x" } }, { "idempotency-key": key });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ detail: "The header idempotency-key has more than one key." });
  });

  it("is done once under an idempotency key, with and without quotation marks", async () => {
    const send = async (message: string, key: string): Promise<unknown> => {
      const response = await service.call("echo", { input: { message } }, { "idempotency-key": key });
      const { meta, title } = await response.json<{ meta?: { cached: boolean }; title?: string }>();
      return { status: response.status, cached: meta?.cached, title };
    };
    const title = "The input or an option of the call is not accepted";
    expect(await send("x", '"order \\"7\\""')).toEqual({ status: 200, cached: false });
    expect(await send("x", 'order "7"')).toEqual({ status: 200, cached: true });
    expect(await send("y", 'order "7"')).toEqual({ status: 422, title });
    expect(await send("y", "another")).toEqual({ status: 200, cached: false });
    expect(await send("x", "k".repeat(257))).toMatchObject({ status: 422 });
  });

  it("has the token's subject as its caller, and the trace of the request", async () => {
    const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    const response = await service.call("echo", { input: { message: "x" } }, { traceparent });
    const { meta, callId } = await response.json<CallSuccess>();
    expect(meta.traceparent).toMatch(/^00-0af7651916cd43dd8448eb211c80319c-/);
    const { events } = await (await service.send("/v1/audit?limit=1000")).json<{ events: AuditEvent[] }>();
    const invoked = events.find((event) => event.callId === callId && event.type === "call.invoked");
    expect(invoked?.payload).toMatchObject({ caller: "alice" });
  });
});

describe("a call that fails", () => {
  it.each([
    ["nothing", { input: {} }, 404, "TOOL_NOT_FOUND"],
    ["echo", { input: { message: 1 } }, 422, "INVALID_INPUT"],
    ["echo", { input: {}, grants: [{ kind: "nothing" }] }, 422, "INVALID_INPUT"],
    ["forbidden", { input: {} }, 403, "POLICY_DENIED"],
    ["broken", { input: {} }, 502, "TOOL_ERROR"],
    ["waits", { input: {}, bounds: { timeoutMs: 1 } }, 504, "TIMEOUT"],
  ])("%s %j is a problem", async (tool, body, status, code) => {
    const response = await service.call(tool, body);
    expect(response.status).toBe(status);
    const problem = await problemOf(response);
    expect(problem).toMatchObject({
      type: `urn:keyhole:error:${code}`,
      code,
      status,
      result: { ok: false, error: { code } },
    });
    expect(problem.detail).toBe(problem.result.error.message);
    expect(problem.callId).toBe(problem.result.callId);
  });

  it("says when to come back", async () => {
    expect((await service.call("rare", { input: {} })).status).toBe(200);
    const response = await service.call("rare", { input: {} });
    expect(response.status).toBe(429);
    expect(Number(response.headers.get("retry-after"))).toBeGreaterThan(3000);
    expect(await problemOf(response)).toMatchObject({ code: "RATE_LIMITED" });
  });

  const statuses: Readonly<Record<ErrorCode, number>> = {
    TOOL_NOT_FOUND: 404,
    INVALID_INPUT: 422,
    CAPABILITY_DENIED: 403,
    POLICY_DENIED: 403,
    APPROVAL_DENIED: 403,
    APPROVAL_EXPIRED: 403,
    RATE_LIMITED: 429,
    TOOL_SET_ASIDE: 503,
    BOUNDS_EXCEEDED: 422,
    TIMEOUT: 504,
    CANCELLED: 499,
    OUT_OF_FUEL: 422,
    OUT_OF_MEMORY: 422,
    ISOLATE_LOST: 503,
    TOOL_ERROR: 502,
    INVALID_OUTPUT: 502,
    NOT_NORMALIZABLE: 502,
    AUDIT_UNAVAILABLE: 503,
    UNSUPPORTED_HOST: 501,
    SUSPENDED: 503,
    SNAPSHOT_REFUSED: 422,
    SUSPENSION_UNAVAILABLE: 501,
    APPROVAL_UNAVAILABLE: 501,
    IDEMPOTENCY_UNAVAILABLE: 501,
    INTERNAL: 500,
  };

  it.each(errorCodes)("%s has its status", async (code) => {
    const failure = {
      ok: false,
      error: { code, message: "m", details: { retryAfterMs: 1500 }, retryable: true, hint: "h", operatorHint: "o" },
      callId: "c",
    } as unknown as CallFailure;
    const response = callProblem(failure);
    expect(response.status).toBe(statuses[code]);
    expect(response.headers.get("retry-after")).toBe("2");
    expect(await problemOf(response)).toMatchObject({
      code,
      detail: "m",
      hint: "h",
      retryable: true,
      callId: "c",
      status: statuses[code],
    });
  });
});

describe("what only an operator can change", () => {
  it.each([
    ["all", /rule|posture/],
    ["caller", /^$/],
  ] as const)("is told to those who may see the policy: %s", async (token, operatorHint) => {
    const inJson = await problemOf(await service.call("forbidden", { input: {} }, {}, token));
    expect(inJson).not.toHaveProperty("operatorHint");
    const events = await readEvents(
      await service.call("forbidden", { input: {} }, { accept: "text/event-stream" }, token),
    );
    const inEvents = events.at(-1)?.data as CallFailure | undefined;
    for (const error of [inJson.result.error, inEvents?.error]) {
      expect(error).toMatchObject({ code: "POLICY_DENIED", hint: expect.stringContaining("another tool") as string });
      expect(error?.operatorHint).toMatch(operatorHint);
    }
  });
});

describe("a stream", () => {
  const sse = { accept: "text/event-stream" };

  it("tells everything in order and ends with the result", async () => {
    const response = await service.call("echo", { input: { message: "x" } }, sse);
    expect(response.status).toBe(200);
    expect(response.headers.get("content-type")).toBe("text/event-stream; charset=utf-8");
    const events = await readEvents(response);
    expect(events.map(({ id }) => id)).toEqual(events.map((_, i) => i));
    const names = events.map(({ event }) => event);
    expect(names.filter((name) => name !== "audit")).toEqual(["log", "progress", "result"]);
    expect(names.at(-1)).toBe("result");
    const audit = events.filter(({ event }) => event === "audit").map(({ data }): AuditEvent => data);
    expect(audit.map(({ type }) => type)).toEqual([
      "call.invoked",
      "capability.checked",
      "policy.decided",
      "tool.started",
      "tool.completed",
    ]);
    expect(events.at(-1)?.data).toMatchObject({ ok: true, data: { message: "x" } });
  });

  it("ends with the result of a call that failed as well", async () => {
    const response = await service.call(
      "nothing",
      { input: {} },
      { accept: "application/json;q=0.5, text/event-stream" },
    );
    expect(response.status).toBe(200);
    expect((await readEvents(response)).at(-1)).toMatchObject({
      event: "result",
      data: { ok: false, error: { code: "TOOL_NOT_FOUND" } },
    });
  });

  it("refuses a bad body before it starts", async () => {
    expect((await service.call("echo", { nothing: 1 }, sse)).status).toBe(400);
  });

  it("shows the question, and goes on when it is answered", async () => {
    const response = await service.call("asks", { input: { amount: 7 } }, sse);
    const asked = await untilAsked(service);
    await service.send(`/v1/approvals/${asked.approvalId}`, {
      method: "POST",
      body: '{"answer":"allow"}',
      headers: { "content-type": "application/json" },
    });
    const events = await readEvents(response);
    expect(events.find(({ event }) => event === "approval")?.data).toMatchObject({
      approvalId: asked.approvalId,
      input: { amount: 7 },
    });
    expect(events.at(-1)?.data).toMatchObject({
      ok: true,
      data: "approved",
      proof: { approval: { approver: "alice", scope: "once" } },
    });
  });

  it("whose reader goes away cancels the call", async () => {
    const response = await service.call("waits", { input: {} }, sse);
    const reader = response.body!.getReader();
    const decoder = new TextDecoder();
    for (let text = ""; !text.includes("event: log");)
      text += decoder.decode((await reader.read()).value, { stream: true });
    await reader.cancel();
    for (;;) {
      const { events } = await (await service.send("/v1/audit?limit=1000")).json<{ events: AuditEvent[] }>();
      const end = events.findLast(({ type }) => type === "tool.failed");
      if (end !== undefined) return expect(end.payload).toMatchObject({ code: "CANCELLED" });
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  });
});

it("a client that goes away cancels the call", async () => {
  const client = new AbortController();
  const pending = service.send("/v1/tools/waits/calls", {
    method: "POST",
    body: '{"input":{}}',
    headers: { "content-type": "application/json" },
    signal: client.signal,
  });
  for (;;) {
    const { events } = await (await service.send("/v1/audit?limit=1000")).json<{ events: AuditEvent[] }>();
    if (events.some(({ type }) => type === "tool.started")) client.abort();
    const end = events.findLast(({ type }) => type === "tool.failed");
    if (end === undefined) {
      await new Promise((resolve) => setTimeout(resolve, 5));
      continue;
    }
    expect(end.payload).toMatchObject({ code: "CANCELLED" });
    break;
  }
  expect((await pending).status).toBe(499);
});
