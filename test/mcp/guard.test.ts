import type { JSONRPCMessage, Transport, TransportSendOptions } from "@modelcontextprotocol/client";
import { expect, it } from "vitest";
import { GuardedTransport } from "../../packages/mcp/src/source/guard.ts";
import { RunningCalls } from "../../packages/mcp/src/source/running-calls.ts";
import { FakeClock } from "../support/fake-clock.ts";

/** A server that takes each message and never ends what it opened. */
async function guarded() {
  const signals = new Map<string, AbortSignal>();
  const inner: Transport = {
    start: async () => {},
    close: async () => {},
    send: (message: JSONRPCMessage, options?: TransportSendOptions) => {
      signals.set("method" in message ? message.method : "answer", options!.requestSignal!);
      return new Promise(() => {});
    },
  };
  const clock = new FakeClock();
  const endpoint = { way: {}, capabilities: [], effects: [], needs: [], open: () => inner };
  const options = { messageBytes: 1_000, clock, running: new RunningCalls(), onRequest: () => {} };
  const transport = new GuardedTransport(endpoint, options);
  await transport.start();
  const isOpen = (method: string): boolean => signals.get(method)?.aborted === false;
  return { transport, clock, isOpen, answer: (id: number) => inner.onmessage?.({ jsonrpc: "2.0", id, result: {} }) };
}

it("ends the stream of a request with its answer, and no other's", async () => {
  const { transport, isOpen, answer } = await guarded();
  void transport.send({ jsonrpc: "2.0", id: 1, method: "tools/list" });
  void transport.send({ jsonrpc: "2.0", id: 2, method: "prompts/list" });
  answer(1);
  expect([isOpen("tools/list"), isOpen("prompts/list")]).toEqual([false, true]);
});

it("ends the stream of a cancelled request at once, and a notice that is not taken after ten seconds", async () => {
  const { transport, clock, isOpen } = await guarded();
  void transport.send({ jsonrpc: "2.0", id: 1, method: "tools/list" });
  void transport.send({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 1 } });
  expect(isOpen("tools/list")).toBe(false);
  await clock.advance(9_999);
  expect(isOpen("notifications/cancelled")).toBe(true);
  await clock.advance(1);
  expect(isOpen("notifications/cancelled")).toBe(false);
});

it("ends a request with the caller's own signal, too", async () => {
  const { transport, isOpen } = await guarded();
  const own = new AbortController();
  void transport.send({ jsonrpc: "2.0", id: 1, method: "tools/list" }, { requestSignal: own.signal });
  expect(isOpen("tools/list")).toBe(true);
  own.abort();
  expect(isOpen("tools/list")).toBe(false);
});
