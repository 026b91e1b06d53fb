import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { serverMessageOf } from "../../packages/mcp/src/message.ts";
import { boundedFetch } from "../../packages/mcp/src/source/bounded-fetch.ts";

const messageBytes = 12;

/** Whether a body passes the bound, in any pieces. */
async function passes(body: string, pieces: number, contentType: string, status = 200, most = messageBytes) {
  const bytes = new TextEncoder().encode(body);
  const faults: unknown[] = [];
  const stream = new ReadableStream<Uint8Array>({
    start(controller) {
      for (let at = 0; at < bytes.length; at += pieces) controller.enqueue(bytes.slice(at, at + pieces));
      controller.close();
    },
  });
  const answer = async (): Promise<Response> =>
    new Response(stream, { status, headers: { "content-type": contentType } });
  const fetch = boundedFetch(answer, {
    messageBytes: most,
    onFault: (fault: unknown) => void faults.push(fault),
    onStray: () => {},
    charge: () => true,
  });
  const read = await (await fetch("https://mcp.example.com/")).text().then(
    (text) => text === body,
    () => undefined,
  );
  expect(read ?? faults.length === 1).toBe(true);
  return read === true;
}

/** What is read of a body, or why not. */
async function read(body: string, pieces: number, contentType: string, status = 200): Promise<string> {
  const bytes = new TextEncoder().encode(body);
  const stream = new ReadableStream<Uint8Array>({
    start(controller) {
      for (let at = 0; at < bytes.length; at += pieces) controller.enqueue(bytes.slice(at, at + pieces));
      controller.close();
    },
  });
  const onFault = (fault: Error): never => expect.unreachable(fault.message);
  const options = { messageBytes: 10_000, onFault, onStray: () => {}, charge: () => true };
  const fetch = boundedFetch(
    async () => new Response(stream, { status, headers: { "content-type": contentType } }),
    options,
  );
  const answer = await fetch("https://mcp.example.com/");
  return answer.text().catch((error: Error) => error.message);
}

/** The bytes of the longest event, its last line end included, and no second one. */
function longestEvent(body: string): number {
  const events = body.split(/(?<=(?:\r\n|\r(?!\n)|(?<!\r)\n|^))(?:\r\n|\r|\n)/);
  return Math.max(...events.map(({ length }) => length));
}

describe("the bound of a server's message", () => {
  const lines = fc.array(fc.constantFrom("a", "data:", "\r", "\n", "\r\n", "\r\n\r\n", "\n\n", "\r\r"), {
    maxLength: 24,
  });

  it("holds for each event of a stream, whichever line ends it has, in any pieces", async () => {
    await fc.assert(
      fc.asyncProperty(lines, fc.integer({ min: 1, max: 5 }), async (parts, pieces) => {
        const body = parts.join("");
        const isPassed = await passes(body, pieces, "text/event-stream; charset=utf-8");
        const longest = longestEvent(body);
        // At the bound itself, the second half of a line end decides.
        if (longest > messageBytes + 2) expect(isPassed).toBe(false);
        if (longest < messageBytes - 2) expect(isPassed).toBe(true);
      }),
      { numRuns: 400 },
    );
  });

  it.each(["\n", "\r", "\r\n"])("ends an endless event whose lines end with %j", async (end) => {
    expect(await passes(`data: x${end}`.repeat(3), 4, "text/event-stream")).toBe(false);
    expect(await passes(`data: x${end}${end}`.repeat(9), 4, "text/event-stream")).toBe(true);
  });

  it.each<[string, number]>([
    ["text/event-stream", 400],
    ["text/event-streams", 200],
    ["application/json, text/event-stream", 200],
    ["application/json", 200],
  ])("is that of the whole body for %s with status %i", async (contentType, status) => {
    expect(await passes("\n\n".repeat(6), 4, contentType, status)).toBe(true);
    expect(await passes("\n\n".repeat(7), 4, contentType, status)).toBe(false);
  });
});

describe("the JSON of a server's message", () => {
  const big = 10_000;
  const inEvents = (json: string): string => `id: 1\ndata: {}\n\ndata: ${json.replaceAll(",", ",\r\ndata:")}\r\n\r\n`;
  const unsafe: readonly (readonly [why: string, json: string])[] = [
    ["a member twice", '{"jsonrpc":"2.0","id":1,"result":{},"id":2}'],
    ["a member twice, once escaped", String.raw`{"id":1,"result":{"a":1,"\u0061":2}}`],
    ["a member __proto__", '{"id":1,"result":{"__proto__":{"isError":false}}}'],
    ["a depth of 100", `{"id":1,"result":${"[".repeat(100)}${"]".repeat(100)}}`],
  ];

  it.each(unsafe)("with %s does not pass, in a body, an event and a line", async (_, json) => {
    for (const pieces of [1, 7, big]) {
      expect(await read(json, pieces, "application/json")).toMatch(/unreadable JSON|cannot be read/);
      expect(await read(json, pieces, "text/plain", 500)).toMatch(/unreadable JSON|cannot be read/);
      const [first, second = ""] = (await read(inEvents(json), pieces, "text/event-stream")).split("\n\n");
      expect(first).toBe("id: 1\ndata: {}");
      expect(second).not.toContain('"result"');
    }
    expect(JSON.stringify(serverMessageOf(json)) ?? "").not.toContain('"result"');
  });

  it.each<[string, string]>([
    ["half an emoji", String.raw`{"jsonrpc":"2.0","id":7,"result":{"content":[{"type":"text","text":"\ud83d"}]}}`],
    ["a list in place of a result", '{"jsonrpc":"2.0","id":7,"result":[]}'],
    ["a member twice", '{"jsonrpc":"2.0","id":7,"result":{"a":1,"a":2}}'],
  ])("with %s becomes the error of the request that it answers", async (_, json) => {
    const refusal = { jsonrpc: "2.0", id: 7, error: { code: -32_700, message: expect.any(String) } };
    expect(serverMessageOf(json)).toEqual(refusal);
    expect(JSON.parse(await read(json, 7, "application/json"))).toEqual(refusal);
    const events = await read(`id: 1\ndata: ${json}\n\nid: 2\ndata: {}\n\n`, 7, "text/event-stream");
    const [first = "", second] = events.split("\n\n");
    expect([first.split("\ndata: ")[0], second]).toEqual(["id: 1", "id: 2\ndata: {}"]);
    expect(JSON.parse(first.split("\ndata: ")[1] ?? "")).toEqual(refusal);
  });

  it("passes where it is safe, or no JSON at all", async () => {
    for (const json of ['{"id":1,"result":{"a":{"a":1},"b":"a:a"}}', "no JSON", ""]) {
      expect(await passes(json, 3, "application/json", 200, big)).toBe(true);
      expect(await passes(inEvents(json), 3, "text/event-stream", 200, big)).toBe(true);
      expect(serverMessageOf(json)).toBeUndefined();
    }
  });
});
