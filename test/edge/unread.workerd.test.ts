import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { drain } from "../../packages/edge/src/app/drain-body.ts";
import { openService, type Service, type TokenName } from "./service.ts";

let service: Service;
beforeEach(async () => {
  service = await openService();
});

/** As much as a service reads for nothing. */
const most = 100_000_000;

/** A body of so many bytes, and how its sender sees it end. */
function bodyOf(byteLength: number) {
  let left = byteLength;
  let end: "none" | "sent" | "cancelled" = "none";
  const body = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        const piece = new Uint8Array(Math.min(left, 65_536));
        left -= piece.length;
        if (piece.length > 0) return controller.enqueue(piece);
        end = "sent";
        controller.close();
      },
      cancel() {
        end = "cancelled";
      },
    },
    { highWaterMark: 0 },
  );
  return { body, end: () => end };
}

const bytes = { "content-type": "application/octet-stream" };
const json = { "content-type": "application/json" };
const none = { "keyhole-call": `:${btoa('{"input":{"most":0}}')}:` };

describe("a body that nobody wants is read before the answer", () => {
  it.each<[number, string, string, Record<string, string>, TokenName | null]>([
    [401, "without a token", "/v1/tools/flip/calls", bytes, null],
    [403, "with a token for other things", "/v1/tools/flip/calls", bytes, "reader"],
    [404, "at no address", "/elsewhere", bytes, "all"],
    [404, "at no address of a kernel", "/v1/elsewhere", bytes, "all"],
    [404, "to no tool", "/v1/tools/nothing/calls", bytes, "all"],
    [405, "with another method", "/v1/tools", bytes, "all"],
    [415, "of another type", "/v1/tools/flip/calls", { "content-type": "text/plain" }, "all"],
    [400, "with a malformed header", "/v1/tools/flip/calls", { ...bytes, "keyhole-call": "nope" }, "all"],
    [422, "to a tool that takes none", "/v1/tools/echo/calls", bytes, "all"],
    [422, "larger than the tool takes", "/v1/tools/flip/calls", bytes, "all"],
    [200, "to a tool that leaves it", "/v1/tools/flip/calls", { ...bytes, ...none }, "all"],
    [
      200,
      "to a tool that leaves it, in a stream",
      "/v1/tools/flip/calls",
      { ...bytes, ...none, accept: "text/event-stream" },
      "all",
    ],
    [
      200,
      "to a tool that leaves it, for its bytes",
      "/v1/tools/flip/calls",
      { ...bytes, ...none, accept: bytes["content-type"] },
      "all",
    ],
    [200, "where there should be none", "/v1/tools/echo/health", {}, "all"],
    [400, "which is no JSON", "/v1/tools/echo/calls", json, "all"],
  ])("%i, %s", async (status, _, path, headers, token) => {
    const { body, end } = bodyOf(3_000_000);
    const response = await service.send(path, { method: "POST", headers, body }, token);
    expect(response.status).toBe(status);
    await response.arrayBuffer();
    expect(end()).toBe("sent");
  });

  it("413, larger than any JSON", async () => {
    const { body, end } = bodyOf(8_392_704 + 3_000_000);
    const response = await service.send("/v1/tools/echo/calls", { method: "POST", headers: json, body });
    expect([response.status, end()]).toEqual([413, "sent"]);
  });

  it("up to a bound, and not beyond", async () => {
    for (const [byteLength, expected] of [
      [most, "sent"],
      [most + 1, "cancelled"],
    ] as const) {
      const { body, end } = bodyOf(byteLength);
      expect((await service.send("/elsewhere", { method: "POST", headers: bytes, body })).status).toBe(404);
      expect(end()).toBe(expected);
    }
  });
});

describe("a body whose sender", () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it("is silent for three seconds is waited for no longer", async () => {
    const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
    const writer = writable.getWriter();
    let drained = false;
    const draining = drain(readable.getReader()).then(() => (drained = true));
    await vi.advanceTimersByTimeAsync(2_999);
    await writer.write(new Uint8Array(1));
    await vi.advanceTimersByTimeAsync(2_999);
    expect(drained).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    await draining;
    await expect(writer.closed).rejects.toBeUndefined();
  });

  it("sends it drop by drop is waited for no longer than thirty seconds", async () => {
    const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
    const writer = writable.getWriter();
    let drained = false;
    const draining = drain(readable.getReader()).then(() => (drained = true));
    for (let second = 0; second < 30; second++) {
      await writer.write(new Uint8Array(1));
      await vi.advanceTimersByTimeAsync(1_000);
    }
    expect(drained).toBe(false);
    await writer.write(new Uint8Array(1));
    await draining;
    await expect(writer.closed).rejects.toBeUndefined();
  });

  it("has gone is no fault", async () => {
    const body = new ReadableStream({
      pull() {
        throw new Error("gone");
      },
    });
    await expect(drain(body.getReader())).resolves.toBeUndefined();
  });
});
