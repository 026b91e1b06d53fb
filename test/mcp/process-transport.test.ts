import { Writable } from "node:stream";
import type { JSONRPCMessage } from "@modelcontextprotocol/client";
import { describe, expect, it } from "vitest";
import { LineWriter, MOST_WAITING_BYTES } from "../../packages/mcp/src/node/line-writer.ts";
import { ProcessTransport } from "../../packages/mcp/src/node/process-transport.ts";
import { FakeClock, settle } from "../support/fake-clock.ts";
import { afterwards, closeAfterEach } from "./support.ts";

closeAfterEach();

const mebibyte = "x".repeat(2 ** 20);
const eight = mebibyte.repeat(8);

function call(id: number, text = mebibyte): JSONRPCMessage {
  return { jsonrpc: "2.0", id, method: "tools/call", params: { name: "eat", arguments: { text } } };
}

function cancelled(requestId: number): JSONRPCMessage {
  return { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId } };
}

/** A process that says one line and reads nothing. */
async function deaf(says = "") {
  const faults: string[] = [];
  const program = `process.stdout.write(${JSON.stringify(says)}); setInterval(() => {}, 1e6)`;
  const command = { command: process.execPath, args: ["-e", program], env: {}, cwd: undefined };
  const options = {
    messageBytes: 2 ** 20,
    clock: new FakeClock(),
    onFault: ({ message }: Error): void => void faults.push(message),
    onStray: () => {},
    callOf: () => undefined,
    charge: () => true,
  };
  const transport = new ProcessTransport(command, options);
  afterwards(() => {
    // One that wrote what is a fault is gone.
    if (faults.length === 0) process.kill(transport.pid!, "SIGKILL");
    return transport.close();
  });
  return { transport, faults };
}

describe("a process that reads nothing", () => {
  it("leaves no call that is over", async () => {
    const { transport, faults } = await deaf();
    await transport.start();
    const fates: string[] = [];
    const ends: Promise<void>[] = [];
    for (let id = 0; id < 20; id++) {
      transport.send(call(id)).catch((error: Error) => fates.push(error.message));
      ends.push(transport.send(cancelled(id)).catch(() => {}));
    }
    // The pipe has a part of the first call: its cancellation waits behind it.
    await Promise.all(ends.slice(1));
    await settle();
    expect(fates).toEqual(Array<string>(19).fill("The message was taken back before it was sent."));
    expect(faults).toEqual([]);
  });

  it("leaves calls up to a bound: a call beyond is refused, and an answer beyond ends the process", async () => {
    const { transport, faults } = await deaf();
    await transport.start();
    const fates: string[] = [];
    const send = (message: JSONRPCMessage): void =>
      void transport.send(message).catch(({ message: fate }: Error) => fates.push(fate));
    const refused = "Too many messages wait for the server, which does not read them.";
    for (let id = 0; id < 9; id++) send(call(id, eight));
    await settle();
    expect(fates).toEqual([refused, refused]);
    await transport.send(cancelled(5));
    send(call(9, eight));
    await settle();
    expect(fates).toHaveLength(3);
    expect(faults).toEqual([]);
    send({ jsonrpc: "2.0", id: 1, result: { text: eight } });
    await settle();
    expect(faults).toEqual([refused]);
    await expect.poll(() => fates).toHaveLength(11);
  });

  it("is ended for a message whose reader throws", async () => {
    const { transport, faults } = await deaf(`${JSON.stringify(cancelled(1))}\n`);
    transport.onmessage = () => {
      throw new Error("It is too much.");
    };
    await transport.start();
    await expect.poll(() => faults).toEqual(["A message of the server cannot be read: It is too much."]);
  });
});

describe("a writer of lines", () => {
  it("keeps their order, holds one line in the pipe, and has room again as they are read", async () => {
    const read: string[] = [];
    const reads: (() => void)[] = [];
    const pipe = new Writable({
      highWaterMark: 1,
      write(chunk, _encoding, done) {
        read.push(String(chunk));
        reads.push(done);
      },
    });
    const lines = new LineWriter(pipe);
    const sent = ["a", "b", "c", "d"].map((line, id) => lines.write(Buffer.from(line), id));
    expect([read, pipe.writableLength]).toEqual([["a"], 1]);
    expect([lines.takeBack(0), lines.takeBack(2), lines.takeBack(2)]).toEqual([false, true, false]);
    expect(lines.isFull(MOST_WAITING_BYTES)).toBe(true);
    await expect(sent[2]).rejects.toThrow("taken back");
    for (const count of [1, 2, 3]) {
      await expect.poll(() => read, { interval: 1 }).toHaveLength(count);
      reads.shift()!();
    }
    await Promise.all([sent[0], sent[1], sent[3]]);
    expect(read).toEqual(["a", "b", "d"]);
    expect(lines.isFull(MOST_WAITING_BYTES)).toBe(false);
    lines.end();
    await expect(lines.write(Buffer.from("e"))).rejects.toThrow("gone");
  });
});
