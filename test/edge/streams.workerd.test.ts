import { type AuditEvent, type CallFailure, hashBytes } from "@keyhole/kernel";
import { beforeEach, describe, expect, it } from "vitest";
import { openService, type Service } from "./service.ts";

let service: Service;
beforeEach(async () => {
  service = await openService();
});

const events = async (): Promise<readonly AuditEvent[]> => {
  const response = await service.send("/v1/audit?limit=1000");
  return (await response.json<{ readonly events: readonly AuditEvent[] }>()).events;
};

const problemOf = async (response: Response): Promise<{ readonly code: string; readonly result: CallFailure }> => {
  expect(response.headers.get("content-type")).toBe("application/problem+json");
  return response.json();
};

describe("a stream", () => {
  const asBytes = { accept: "application/octet-stream" };

  it("is answered with its bytes, and the name of its call", async () => {
    const response = await service.call("pieces", { input: { count: 3, length: 100_000 } }, asBytes);
    expect(response.status).toBe(200);
    expect(response.headers.get("content-type")).toBe("application/octet-stream");
    const bytes = new Uint8Array(await response.arrayBuffer());
    expect(bytes.length).toBe(300_000);
    const callId = response.headers.get("keyhole-call-id");
    expect((await events()).find(({ type, callId: of }) => type === "tool.completed" && of === callId)).toMatchObject({
      payload: { outputHash: hashBytes(bytes), outputBytes: 300_000 },
    });
  });

  it("without a byte is an empty body", async () => {
    const response = await service.call("pieces", { input: { count: 0, length: 1 } }, asBytes);
    expect([response.status, (await response.arrayBuffer()).byteLength]).toEqual([200, 0]);
  });

  it("that fails before its first byte is a problem", async () => {
    const response = await service.call("pieces", { input: { count: 0, length: 1, fails: true } }, asBytes);
    expect((await problemOf(response)).code).toBe("TOOL_ERROR");
  });

  it("that fails later ends in the middle, not at its end", async () => {
    const response = await service.call("pieces", { input: { count: 2, length: 10, fails: true } }, asBytes);
    expect(response.status).toBe(200);
    await expect(response.arrayBuffer()).rejects.toThrow("it broke");
  });

  it("is cancelled by a client that stops reading", async () => {
    const input = { count: 1_000_000, length: 1_000 };
    const response = await service.call("pieces", { input }, asBytes);
    const reader = response.body!.getReader();
    await reader.read();
    await reader.cancel();
    const callId = response.headers.get("keyhole-call-id");
    await expect
      .poll(async () => (await events()).find(({ type, callId: of }) => type === "tool.failed" && of === callId))
      .toMatchObject({ payload: { code: "CANCELLED" } });
  });

  it("is a reference in JSON", async () => {
    const response = await service.call("pieces", { input: { count: 1, length: 5 } });
    expect(await response.json()).toMatchObject({
      ok: true,
      data: { digest: hashBytes(new Uint8Array(5)), byteLength: 5 },
      meta: { warnings: [expect.any(String)] },
    });
  });

  it("is not what a tool of another kind gives", async () => {
    const response = await service.call("echo", { input: { message: "hello" } }, asBytes);
    expect((await problemOf(response)).code).toBe("INVALID_INPUT");
  });
});
