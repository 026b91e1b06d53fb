import { type AuditEvent, type CallFailure, type CallResult, hashBytes } from "@keyhole/kernel";
import { beforeEach, describe, expect, it } from "vitest";
import { openService, readEvents, type Service } from "./service.ts";

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

describe("a stream in events", () => {
  const inEvents = { accept: "text/event-stream" };

  /** What came under each name, and the bytes of `output` put together. */
  async function read(response: Response): Promise<{ names: string[]; bytes: Uint8Array; result: CallResult }> {
    const all = await readEvents(response);
    const pieces = all.flatMap(({ event, data }) => (event === "output" ? [data as { readonly base64: string }] : []));
    const bytes = Uint8Array.from(pieces.map(({ base64 }) => atob(base64)).join(""), (char) => char.charCodeAt(0));
    return { names: all.map(({ event }) => event), bytes, result: all.at(-1)!.data };
  }

  it("has its bytes between the events of its call, and the result last", async () => {
    const input = { count: 3, length: 100_000, fill: 7 };
    const { names, bytes, result } = await read(await service.call("pieces", { input, output: true }, inEvents));
    expect(hashBytes(bytes)).toBe(hashBytes(new Uint8Array(300_000).fill(7)));
    expect(result).toMatchObject({
      ok: true,
      data: { digest: hashBytes(bytes), byteLength: 300_000 },
      meta: { warnings: [] },
    });
    expect([names[0], names.at(-1)]).toEqual(["audit", "result"]);
    const first = names.indexOf("output");
    expect(names.slice(0, first).includes("audit") && names.slice(first).includes("audit")).toBe(true);
  });

  it.each([0, 1, 49_151, 49_152, 49_153, 98_304])("of one piece of %i bytes has events of 48 KiB", async (length) => {
    const input = { count: 1, length };
    const { names, bytes } = await read(await service.call("pieces", { input, output: true }, inEvents));
    expect(bytes.length).toBe(length);
    expect(names.filter((name) => name === "output").length).toBe(Math.ceil(length / 49_152));
  });

  it("is a reference where nobody asked for the bytes", async () => {
    const input = { count: 1, length: 5 };
    for (const more of [{}, { output: false }]) {
      const { names, result } = await read(await service.call("pieces", { input, ...more }, inEvents));
      expect(names).not.toContain("output");
      expect(result).toMatchObject({ ok: true, data: { byteLength: 5 }, meta: { warnings: [expect.any(String)] } });
    }
  });

  it("that fails in the middle ends with a result that says so", async () => {
    const input = { count: 2, length: 10, fails: true };
    const { bytes, result } = await read(await service.call("pieces", { input, output: true }, inEvents));
    expect([bytes.length, result]).toMatchObject([20, { ok: false, error: { code: "TOOL_ERROR" } }]);
  });

  it("is a call that was done once: its bytes went to the first", async () => {
    const input = { count: 1, length: 5 };
    const again = { ...inEvents, "idempotency-key": "key" };
    await read(await service.call("pieces", { input, output: true }, again));
    const { bytes, result } = await read(await service.call("pieces", { input, output: true }, again));
    expect([bytes.length, result]).toMatchObject([0, { ok: true, data: { byteLength: 5 }, meta: { cached: true } }]);
  });

  it("is not what a tool of another kind gives", async () => {
    const call = service.call("echo", { input: { message: "hello" }, output: true }, inEvents);
    expect((await read(await call)).result).toMatchObject({ ok: false, error: { code: "INVALID_INPUT" } });
  });

  it.each(["application/json", "application/octet-stream", "*/*"])("is not asked for with %s", async (accept) => {
    const call = { input: { count: 1, length: 5 }, output: true };
    const response = await service.call("pieces", call, { accept });
    expect([response.status, (await problemOf(response)).code]).toEqual([400, "INVALID_REQUEST"]);
  });
});
