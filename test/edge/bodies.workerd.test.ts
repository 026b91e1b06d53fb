import { type AuditEvent, hashBytes } from "@keyhole/kernel";
import { beforeEach, describe, expect, it } from "vitest";
import { openService, type Service, untilAsked } from "./service.ts";

let service: Service;
beforeEach(async () => {
  service = await openService();
});

const bytesType = { "content-type": "application/octet-stream" };
const header = (call: unknown): Record<string, string> => ({ "keyhole-call": `:${btoa(JSON.stringify(call))}:` });

const send = (tool: string, body: BodyInit | null, headers: Record<string, string> = {}): Promise<Response> =>
  service.send(`/v1/tools/${tool}/calls`, {
    method: "POST",
    headers: { ...bytesType, ...headers },
    ...(body !== null && { body }),
  });

const codeOf = async (response: Response): Promise<[number, string]> => [
  response.status,
  (await response.json<{ readonly code: string }>()).code,
];

const read = async (): Promise<AuditEvent | undefined> => {
  const response = await service.send("/v1/audit?limit=1000");
  const { events } = await response.json<{ readonly events: readonly AuditEvent[] }>();
  return events.find(({ type }) => type === "body.read");
};

describe("a request of bytes", () => {
  const bytes = new Uint8Array(600_000).map((_, i) => i & 255);

  it("is the body of the call, and its answer can flow meanwhile", async () => {
    const response = await send("flip", bytes, { accept: "application/octet-stream" });
    expect(response.status).toBe(200);
    const flipped = new Uint8Array(await response.arrayBuffer());
    expect(hashBytes(flipped)).toBe(hashBytes(bytes.map((byte) => 255 - byte)));
    expect(await read()).toMatchObject({ payload: { bodyHash: hashBytes(bytes), bodyBytes: 600_000, whole: true } });
  });

  it("flows: the answer begins before its end is there", async () => {
    const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
    const writer = writable.getWriter();
    const answering = send("flip", readable, { accept: "application/octet-stream" });
    await writer.write(new Uint8Array([1]));
    const reader = (await answering).body!.getReader();
    expect((await reader.read()).value).toEqual(new Uint8Array([254]));
    await writer.write(new Uint8Array([2]));
    expect((await reader.read()).value).toEqual(new Uint8Array([253]));
    await writer.close();
    expect((await reader.read()).done).toBe(true);
  });

  it("has everything else in a header", async () => {
    const response = await send("flip", bytes, header({ input: { most: 0 }, sessionId: "session" }));
    expect(await response.json()).toMatchObject({ ok: true, data: { byteLength: 0 } });
    expect(await read()).toMatchObject({ sessionId: "session", payload: { whole: false } });
  });

  it("may be empty", async () => {
    const response = await send("flip", null);
    expect(await response.json()).toMatchObject({ ok: true, data: { byteLength: 0 } });
    expect(await read()).toMatchObject({ payload: { bodyBytes: 0, whole: true } });
  });

  it("fails the call where it breaks off", async () => {
    const body = new ReadableStream({
      pull() {
        throw new Error("the line is cut");
      },
    });
    expect((await codeOf(await send("flip", body)))[1]).toBe("CANCELLED");
  });

  it.each<[string, Record<string, string>, string, number, string]>([
    [
      "more bytes than the tool takes",
      header({ input: {}, bounds: { bodyBytes: 10 } }),
      "flip",
      422,
      "BOUNDS_EXCEEDED",
    ],
    ["a tool that takes none", header({ input: { message: "x" } }), "echo", 422, "INVALID_INPUT"],
    ["a key for doing it once", { "idempotency-key": "key" }, "flip", 422, "INVALID_INPUT"],
    ["JSON in the header", { "keyhole-call": '{"input":{}}' }, "flip", 400, "INVALID_REQUEST"],
    ["two headers", { "keyhole-call": ":e30=:, :e30=:" }, "flip", 400, "INVALID_REQUEST"],
    ["padding in the middle", { "keyhole-call": ":e=30:" }, "flip", 400, "INVALID_REQUEST"],
    ["base64 of no length", { "keyhole-call": ":e:" }, "flip", 400, "INVALID_REQUEST"],
    ["a header that is not UTF-8", { "keyhole-call": ":/w==:" }, "flip", 400, "INVALID_REQUEST"],
    ["a header that is not JSON", { "keyhole-call": ":ew==:" }, "flip", 400, "INVALID_REQUEST"],
    ["a member that is not known", header({ input: {}, grant: [] }), "flip", 400, "INVALID_REQUEST"],
    ["an input that is deep", header({ input: deep(100) }), "flip", 400, "INVALID_REQUEST"],
  ])("is refused with %s", async (_, headers, tool, status, code) => {
    expect(await codeOf(await send(tool, bytes, headers))).toEqual([status, code]);
  });

  it("is asked for by a tool that takes one, as it is sent here", async () => {
    const response = await service.call("flip", { input: {} });
    expect(await response.json()).toMatchObject({
      code: "INVALID_INPUT",
      detail: expect.stringContaining("application/octet-stream"),
    });
  });

  it("is one of the two types of a call, and its refusal names both", async () => {
    const call = await send("flip", bytes, { "content-type": "text/plain" });
    expect([call.status, call.headers.get("accept-post")]).toEqual([415, "application/json, application/octet-stream"]);
    expect(await call.json()).toMatchObject({
      detail: expect.stringContaining("application/json or as application/octet-stream"),
    });
    const answer = await service.send("/v1/approvals/none", { method: "POST", headers: bytesType, body: bytes });
    expect([answer.status, answer.headers.get("accept-post")]).toEqual([415, "application/json"]);
  });

  it("that nobody can see is named in the question, and a yes of any scope is for once", async () => {
    const ask = { id: "ask", effect: "ask", when: {}, reason: "Asked." } as const;
    const asking = await openService({
      policy: { version: "1", posture: "standard", rules: [ask] },
    });
    const calling = asking.send("/v1/tools/flip/calls", { method: "POST", headers: bytesType, body: bytes });
    const { approvalId } = await untilAsked(asking);
    const waiting = await asking.send("/v1/approvals");
    expect(await waiting.json()).toMatchObject({ approvals: [{ approvalId, hasBody: true }] });
    const answered = await asking.send(`/v1/approvals/${approvalId}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ answer: "allow", scope: "pattern", pattern: [{ at: "/most", exists: false }] }),
    });
    expect(answered.status).toBe(204);
    expect(await (await calling).json()).toMatchObject({ proof: { approval: { scope: "once" } } });
    expect(await (await asking.send("/v1/approvals")).json()).toEqual({ approvals: [], standing: [] });
  });
});

function deep(levels: number): unknown {
  return levels === 0 ? {} : { a: deep(levels - 1) };
}
