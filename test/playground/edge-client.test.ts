import { defineTool, manifestOf, outputKinds } from "@keyhole/kernel";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readAddress } from "../../packages/worker-host/src/edge/address.ts";
import { readApproval, readEvent, readJson, readResult, readTools } from "../../packages/worker-host/src/edge/wire.ts";
import { EdgeFault } from "../../packages/worker-host/src/edge/fault.ts";
import { type ServerEvent, serverEvents } from "../../packages/worker-host/src/edge/server-events.ts";

async function eventsOf(text: string, cuts: readonly number[] = []): Promise<ServerEvent[]> {
  const bytes = new TextEncoder().encode(text);
  const ends = [...cuts.map((cut) => cut % (bytes.length + 1)).sort((a, b) => a - b), bytes.length];
  const body = new ReadableStream<Uint8Array<ArrayBuffer>>({
    start(controller) {
      let start = 0;
      for (const end of ends) {
        controller.enqueue(bytes.slice(start, end));
        start = end;
      }
      controller.close();
    },
  });
  const events: ServerEvent[] = [];
  for await (const event of serverEvents(body)) events.push(event);
  return events;
}

describe("server-sent events", () => {
  const stream =
    'id: 0\nevent: audit\ndata: {"a":"ü€"}\n\n: keep-alive\n\ndata: one\r\ndata:two\r\n\r\nevent: unfinished\ndata: x';

  it("are read with any line end, comments and several lines of data", async () => {
    expect(await eventsOf(stream)).toEqual([
      { event: "audit", data: '{"a":"ü€"}' },
      { event: "message", data: "one\ntwo" },
    ]);
  });

  it("do not depend on how the bytes arrive", async () => {
    const whole = await eventsOf(stream);
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(200), { maxLength: 12 }), async (cuts) => {
        expect(await eventsOf(stream, cuts)).toEqual(whole);
      }),
    );
  });

  it("without data are none", async () => {
    expect(await eventsOf("event: audit\n\n\n\n")).toEqual([]);
  });
});

const meta = { durationMs: 1, networkRequests: 0, networkBytes: 0, cached: false, warnings: [] };
const success = {
  ok: true,
  tool: "echo@1.0.0",
  callId: "c",
  effects: [],
  meta,
  data: "aGk=",
  hash: "blake3:0",
  proof: {},
};

describe("an event that does not end", () => {
  /** Texts without end, until nobody reads on. */
  async function read(text: string): Promise<{ readonly error: unknown; readonly sent: number }> {
    const bytes = new TextEncoder().encode(text);
    let sent = 0;
    const body = new ReadableStream<Uint8Array<ArrayBuffer>>({
      pull(controller) {
        sent += bytes.length;
        controller.enqueue(bytes.slice());
      },
    });
    const reading = (async () => {
      for await (const _event of serverEvents(body));
    })();
    return { error: await reading.catch((error: unknown) => error), sent };
  }

  const chunk = 1 << 20;

  it.each([
    ["of one line", "x".repeat(chunk)],
    ["of many lines", "data:".padEnd(chunk - 1, "x") + "\n"],
    ["of lines without data", ":".padEnd(chunk - 1, "x") + "\n"],
  ])("is given up: %s", async (_, text) => {
    const { error, sent } = await read(text);
    expect(error).toMatchObject({ message: "The edge sent an event that is too long." });
    expect(sent).toBeLessThan(96 * chunk);
  });
});

describe("a line that comes in many parts", () => {
  it.each(["\n", "\r\n", "\r"])("is read once, whatever ends it: %j", async (end) => {
    const text = `data: ${"x".repeat(1_000)}${end}${end}data: y${end}${end}`;
    const events = [
      { event: "message", data: "x".repeat(1_000) },
      { event: "message", data: "y" },
    ];
    const each = Array.from({ length: text.length }, (_, at) => at);
    // A CR at the very end of all may be half of a CRLF: the last event waits for what comes.
    expect(await eventsOf(text, each)).toEqual(end === "\r" ? events.slice(0, 1) : events);
  });
});

describe("an event that ends with two CRs", () => {
  it("is there with the next character, which shows that they are no CRLF", async () => {
    const parts = ["data: x\r", "\r", "d"];
    const body = new ReadableStream<Uint8Array<ArrayBuffer>>({
      pull(controller) {
        const part = parts.shift();
        if (part !== undefined) controller.enqueue(new TextEncoder().encode(part));
      },
    });
    expect(await serverEvents(body).next()).toEqual({ done: false, value: { event: "message", data: "x" } });
  });
});

describe("what an edge sends", () => {
  it.each(["", "{", "still here", "{}{}"])("is JSON, or the edge is told of, and not the network: %j", (data) => {
    expect(() => readJson(data)).toThrow(
      new EdgeFault(
        "EDGE_NOT_UNDERSTOOD",
        "The edge sent an event that is not JSON.",
        "Is this the address of a Keyhole edge?",
      ),
    );
  });

  it("becomes bytes again", () => {
    expect(readResult({ ...success, encoding: "base64" })).toMatchObject({
      ok: true,
      data: new Uint8Array([104, 105]),
    });
    expect(readResult(success)).toMatchObject({ ok: true, data: "aGk=" });
  });

  it("can be a tool of any kind of output", () => {
    const definition = { name: "t", version: "1.0.0", description: "Does.", input: {}, execute: () => "" };
    const tools = outputKinds.map((kind) => {
      const manifest = manifestOf(defineTool({ ...definition, output: { kind } }), "module");
      return { id: "t@1.0.0", hash: "blake3:0", codeHash: null, manifest };
    });
    expect(readTools({ tools }).tools).toEqual(tools);
  });

  const names = { approvalId: "a", callId: "c", sessionId: "s", caller: "b", tool: "t@1.0.0", toolHash: "h" };
  const asked = { risk: null, effects: [], grants: [], input: {}, argsHash: "h", hasBody: false, reason: "" };
  const question = { ...names, ...asked, description: "", tier: 2, expiresAt: "2026-11-20T12:00:00.000Z" };
  const passkey = { approver: "b", credentialId: "AA" };

  it("is read where a question names passkeys", () => {
    const named = { ...question, passkey: { rpId: "localhost", keys: [passkey] } };
    expect(readApproval(named)).toEqual(named);
  });

  it.for<readonly [string, (foreign: unknown) => unknown, unknown]>([
    ["no result", readResult, null],
    ["a result without an end", readResult, { ...success, ok: "yes" }],
    ["a failure without an error", readResult, { ...success, ok: false }],
    [
      "a failure with an unknown code",
      readResult,
      {
        ...success,
        ok: false,
        error: { code: "OOPS", message: "", hint: "", operatorHint: "", retryable: false, details: null },
      },
    ],
    ["a result with markup for text", readResult, { ...success, tool: { html: "<b>" } }],
    ["tools that are none", readTools, { tools: [{ id: "x" }] }],
    ["a list instead of an answer", readTools, []],
    ["an event without a number", readEvent, { id: "a", time: "now" }],
    ["a question without arguments", readApproval, { approvalId: "a" }],
    ...[
      7,
      { rpId: "a" },
      { rpId: "a", keys: [{ approver: "b" }] },
      { rpId: "a", keys: Array.from({ length: 101 }, () => passkey) },
    ].map((odd) => ["a question with odd passkeys", readApproval, { ...question, passkey: odd }] as const),
  ])("is refused: %s", ([, read, foreign]) => {
    expect(() => read(foreign)).toThrow(EdgeFault);
  });
});

describe("an address", () => {
  it.for<[string, string | undefined]>([
    ["http://127.0.0.1:8701", "http://127.0.0.1:8701"],
    [" https://edge.example.com/v1/tools?x#y ", "https://edge.example.com"],
    ["127.0.0.1:8701", "http://127.0.0.1:8701"],
    ["https://user:secret@host/", "https://host"],
    ["data:text/html,page", undefined],
    ["ftp://host", undefined],
    ["", undefined],
    ["http://", undefined],
  ])("%s", ([typed, origin]) => {
    expect(readAddress(typed)).toBe(origin);
  });
});
