import { PassThrough, Writable } from "node:stream";
import { describe, expect, it } from "vitest";
import { StdioTransport } from "../../packages/mcp/src/node/stdio-transport.ts";

async function opened(output: Writable = new PassThrough()) {
  const input = new PassThrough();
  const transport = new StdioTransport(input, output);
  const heard: unknown[] = [];
  const faults: string[] = [];
  let closed = 0;
  transport.onmessage = (message) => void heard.push(message);
  transport.onerror = ({ message }) => void faults.push(message);
  transport.onclose = () => void closed++;
  await transport.start();
  return { input, transport, heard, faults, closed: () => closed };
}

const call = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "echo" } };

describe("the stdio of a server", () => {
  it.each([
    "[]",
    JSON.stringify([call, call]),
    "null",
    "1",
    '"text"',
    "{",
    JSON.stringify({ ...call, jsonrpc: "1.0" }),
    JSON.stringify({ ...call, jsonrpc: undefined }),
    JSON.stringify({ ...call, id: null }),
    JSON.stringify({ ...call, id: 1.5 }),
    JSON.stringify({ ...call, id: { a: 1 } }),
    JSON.stringify({ ...call, params: [1] }),
    JSON.stringify({ ...call, method: 7 }),
    JSON.stringify({ jsonrpc: "2.0", id: 1 }),
    JSON.stringify({ jsonrpc: "2.0", id: 1, result: null }),
    JSON.stringify({ jsonrpc: "2.0", id: 1, result: {}, error: { code: 1, message: "" } }),
    JSON.stringify({ jsonrpc: "2.0", id: 1, error: { code: "1", message: "" } }),
    '{"jsonrpc":"2.0","id":1,"method":"ping","method":"tools/list"}',
    String.raw`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"arguments":{"a":1,"\u0061":2}}}`,
    JSON.stringify(call).replace('"echo"', `${"[".repeat(90)}${"]".repeat(90)}`),
    '{"__proto__":{"jsonrpc":"2.0","id":1,"method":"ping"}}',
  ])("answers that %s is no message, and reads on", async (line) => {
    const output = new PassThrough();
    const { input, heard, faults } = await opened(output);
    input.write(`${line}\n\n${JSON.stringify(call)}\n`);
    await expect.poll(() => heard).toEqual([call]);
    expect(faults).toHaveLength(1);
    expect(JSON.parse(String(output.read()))).toMatchObject({ id: null, error: { code: -32_600 } });
  });

  it.each([
    ["1917043659912705296", "/params/arguments/id"],
    ["1e400", "/params/arguments/id"],
  ])("answers the call whose argument is %s with the place of the number", async (literal, place) => {
    const output = new PassThrough();
    const { input, heard } = await opened(output);
    input.write(`${JSON.stringify({ ...call, params: { arguments: { id: "N" } } }).replace('"N"', literal)}\n`);
    input.write(`${JSON.stringify(call)}\n`);
    await expect.poll(() => heard).toEqual([call]);
    const message = expect.stringContaining(place) as string;
    expect(JSON.parse(String(output.read()))).toMatchObject({ id: 1, error: { code: -32_600, message } });
  });

  it("ends at a message that is too long, and keeps nothing of it", async () => {
    const { input, heard, faults, closed } = await opened();
    for (let sent = 0; sent < 9 * 2 ** 20; sent += 2 ** 20) input.write(Buffer.alloc(2 ** 20, 97));
    await expect.poll(closed).toBe(1);
    expect(faults).toHaveLength(1);
    input.write(`\n${JSON.stringify(call)}\n`);
    expect(heard).toEqual([]);
  });

  it("reads no more from a client that reads nothing, and goes on when it reads", async () => {
    const waiting: (() => void)[] = [];
    const stuck = new Writable({ write: (_chunk, _encoding, done) => void waiting.push(done) });
    const { input, transport, heard } = await opened(stuck);
    transport.onmessage = (message) => {
      heard.push(message);
      void transport.send({ jsonrpc: "2.0", id: heard.length, result: { text: "x".repeat(100_000) } });
    };
    const requests = Array.from({ length: 100 }, () => `${JSON.stringify(call)}\n`);
    for (const request of requests) {
      input.write(request);
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(input.isPaused()).toBe(true);
    expect(heard.length).toBeLessThan(20);
    expect(stuck.writableLength).toBeLessThan(2 * 2 ** 20);
    const isDone = (): boolean => {
      waiting.shift()?.();
      return heard.length === requests.length;
    };
    await expect.poll(isDone, { interval: 1 }).toBe(true);
  });

  it("is over for a client that reads nothing of 64 MiB of answers", async () => {
    const stuck = new Writable({ write: () => {} });
    const { transport, faults, closed } = await opened(stuck);
    const answer = { jsonrpc: "2.0", id: 1, result: { text: "x".repeat(2 ** 24) } } as const;
    const sent = Array.from({ length: 5 }, () => transport.send(answer));
    const settled = await Promise.allSettled(sent);
    expect(settled.map(({ status }) => status)).toEqual([
      ...Array<string>(3).fill("fulfilled"),
      "rejected",
      "rejected",
    ]);
    expect(stuck.writableLength).toBeLessThan(2 ** 26);
    expect([closed(), faults.length]).toEqual([1, 1]);
  });

  it("reads on behind a message whose listener throws", async () => {
    const { input, transport, heard, faults } = await opened();
    transport.onmessage = (message) => {
      heard.push(message);
      throw new Error("It is too much.");
    };
    input.write(`${JSON.stringify(call)}\n${JSON.stringify(call)}\n`);
    await expect.poll(() => heard).toHaveLength(2);
    expect(faults).toEqual(["It is too much.", "It is too much."]);
  });

  it.each(["end", "destroy"] as const)("is over once when its client goes by %s", async (how) => {
    const { input, transport, closed } = await opened();
    input[how]();
    await expect.poll(closed).toBe(1);
    await transport.close();
    expect(closed()).toBe(1);
    await expect(transport.send({ jsonrpc: "2.0", id: 1, result: {} })).rejects.toThrow("disconnected");
  });
});
