import { type AuditEvent, limits } from "@keyhole/kernel";
import { beforeEach, describe, expect, it } from "vitest";
import { made, openService, type Service, untilAsked } from "../edge/service.ts";
import { FakeClock } from "../support/fake-clock.ts";

let clock: FakeClock;
let service: Service;
beforeEach(async () => {
  clock = new FakeClock();
  service = await openService({ clock });
});

const inEvents = { accept: "text/event-stream" };
type Reader = ReadableStreamDefaultReader<Uint8Array>;

const eventsOf = async (callId: string): Promise<readonly AuditEvent[]> => {
  const response = await service.send("/v1/audit?limit=1000");
  const { events } = await response.json<{ readonly events: readonly AuditEvent[] }>();
  return events.filter((event) => event.callId === callId);
};

const endsOf = async (callId: string): Promise<readonly AuditEvent[]> =>
  (await eventsOf(callId)).filter(({ type }) => type === "tool.completed" || type === "tool.failed");

const turn = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 0));

/** Turns of the event loop in which a tool that nothing holds up gives far more than there is room for. */
async function turns(count = 200): Promise<void> {
  for (let i = 0; i < count; i++) await turn();
}

/** Waits without looking at a clock: what is waited for has to come. */
async function untilEnded(callId: string): Promise<AuditEvent> {
  for (;;) {
    const [end] = await endsOf(callId);
    if (end) return end;
    await turn();
  }
}

/** Reads until the text that came has what is looked for. */
async function readUntil(reader: Reader, wanted: string): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  while (!text.includes(wanted)) {
    const { done, value } = await reader.read();
    if (done) throw new Error(`The events ended before ${wanted}.`);
    text += decoder.decode(value, { stream: true });
  }
  return text;
}

const callIdIn = (text: string): string => /"callId":"([^"]+)"/.exec(text)?.[1] ?? "";

describe("a client that asks for a stream in events and does not read", () => {
  const input = { count: 100_000, length: 10_000 };

  it("makes the tool wait: what it reads later is what was there, and a few pieces more", async () => {
    const before = made.pieces;
    const response = await service.call("pieces", { input, output: true }, inEvents);
    const reader: Reader = response.body!.getReader();
    const text = await readUntil(reader, "event: output");
    await turns();
    // One event of bytes waits for the client, and no more than a few pieces for that.
    const ahead = made.pieces - before;
    expect(ahead).toBeLessThanOrEqual(limits.piecesInFlight);
    for (let i = 0; i < 10; i++) await reader.read();
    await turns();
    expect(made.pieces - before).toBeLessThanOrEqual(ahead + 10);
    expect(await endsOf(callIdIn(text))).toEqual([]);
    await reader.cancel();
  });

  it("and goes away ends the call", async () => {
    const response = await service.call("pieces", { input, output: true }, inEvents);
    const reader: Reader = response.body!.getReader();
    const callId = callIdIn(await readUntil(reader, "event: output"));
    await turns(20);
    await reader.cancel();
    expect(await untilEnded(callId)).toMatchObject({ payload: { code: "CANCELLED" } });
  });

  it("has the end of its call as the last event, when the deadline comes first, and no byte after it", async () => {
    const response = await service.call("pieces", { input, output: true, bounds: { timeoutMs: 100 } }, inEvents);
    const reader: Reader = response.body!.getReader();
    let text = await readUntil(reader, "event: output");
    const callId = callIdIn(text);
    await clock.advance(100);
    expect(await untilEnded(callId)).toMatchObject({ payload: { code: "TIMEOUT" } });
    text += await readUntil(reader, "event: result");
    for (let read = await reader.read(); !read.done; read = await reader.read())
      text += new TextDecoder().decode(read.value);
    expect(text.slice(text.indexOf("event: result"))).not.toContain("event: output");
  });
});

describe("a client that sends a body and reads no answer before it is sent", () => {
  const aheadBytes = 8 << 20;
  const chunkBytes = 1 << 16;
  const bytesType = { "content-type": "application/octet-stream", ...inEvents };

  /** A body that counts what was taken of it. */
  function counted(byteLength: number): { readonly body: ReadableStream<Uint8Array>; readonly taken: () => number } {
    let taken = 0;
    const body = new ReadableStream<Uint8Array>(
      {
        pull(controller) {
          if (taken >= byteLength) return controller.close();
          taken += chunkBytes;
          controller.enqueue(new Uint8Array(chunkBytes));
        },
      },
      { highWaterMark: 0 },
    );
    return { body, taken: () => taken };
  }

  const ask = { id: "ask", effect: "ask", when: {}, reason: "Asked." } as const;
  const policy = { version: "1", posture: "standard", rules: [ask] } as const;
  const send = (asking: Service, body: ReadableStream<Uint8Array>): Promise<Response> =>
    asking.send("/v1/tools/flip/calls", { method: "POST", headers: bytesType, body });

  it("is rid of all of it before anybody answers the question", async () => {
    const asking = await openService({ policy });
    const { body, taken } = counted(1_000_000);
    const response = await send(asking, body);
    const { approvalId } = await untilAsked(asking);
    while (taken() < 1_000_000) await turn();
    asking.desk.answer(approvalId, { answer: "deny", approver: "bob" });
    expect(await response.text()).toContain("APPROVAL_DENIED");
  });

  it("is rid of no more than there is room for", async () => {
    const asking = await openService({ policy });
    const { body, taken } = counted(4 * aheadBytes);
    const response = await send(asking, body);
    await untilAsked(asking);
    while (taken() < aheadBytes) await turn();
    await turns();
    expect(taken()).toBeLessThanOrEqual(aheadBytes + limits.piecesInFlight * chunkBytes);
    await response.body!.cancel();
  });
});
