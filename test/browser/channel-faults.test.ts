import type { CallPort, IsolateOutcome } from "@keyhole/kernel";
import { describe, expect, it } from "vitest";
import { protocolLimits } from "../../packages/worker-host/src/protocol/limits.ts";
import { heardPort } from "../support/heard-port.ts";
import { ready, loadedGuest, call, callId, returned, request, log } from "./raw-guest.ts";

/** Whatever is wrong: the call ends, the channel is closed, its callers are told once, and the host goes on. */
async function expectBroken(
  messages: readonly unknown[],
  expected: Partial<IsolateOutcome> = { kind: "lost" },
): Promise<void> {
  const { channel, say, broken } = await loadedGuest();
  const end = heardPort();
  const outcome = channel.call(call, end);
  say(...messages, log({ message: "late" }), returned('"late"'));
  expect(await outcome).toMatchObject(expected);
  expect([channel.open, channel.busy, broken.length]).toEqual([false, true, 1]);
  expect(end.logs).not.toContainEqual({ level: "info", message: "late" });
  expect((await channel.call({ ...call, callId: "call-2" }, heardPort())).kind).toBe(expected.kind);
}

describe("a guest that sends anything else is lost at once", () => {
  const cycle: { type: string; self?: unknown } = { type: "log" };
  cycle.self = cycle;
  let deep: unknown = 1;
  for (let i = 0; i < 500; i++) deep = [deep];

  it.each<[string, readonly unknown[]]>([
    ["nothing", [undefined]],
    ["null", [null]],
    ["a number", [1]],
    ["a string", ["outcome"]],
    ["an array", [[]]],
    ["no type", [{}]],
    ["an unknown type", [{ type: "eval" }]],
    ["a type that every object has", [{ type: "toString" }]],
    ["a type that every object has, by another name", [{ type: "__proto__" }]],
    ["a type that is no string", [{ type: ["log"] }]],
    ["a cycle", [cycle]],
    ["a Map", [new Map([["type", "log"]])]],
    ["comlink's SET", [{ id: "1", type: "SET", path: ["__proto__", "polluted"], value: { type: "RAW", value: 1 } }]],
    ["comlink's CONSTRUCT", [{ id: "1", type: "CONSTRUCT", path: ["read", "constructor"], argumentList: [] }]],
    ["a host's message", [{ type: "call", call }]],
    ["a second ready", [ready]],
    ["a second loaded", [{ type: "loaded" }]],
    ["a late load failure", [{ type: "load-failed", name: "E", message: "" }]],
    ["an extra field", [log({ extra: 1 })]],
    [
      "an own __proto__ field",
      [JSON.parse(`{"type":"log","callId":"${callId}","level":"info","message":"","__proto__":{}}`)],
    ],
    ["a missing field", [{ type: "log", callId, level: "info" }]],
    ["an unknown log level", [log({ level: "fatal" })]],
    ["a log message one too long", [log({ message: "x".repeat(protocolLimits.messageLength + 1) })]],
    ["a progress of NaN", [{ type: "progress", callId, done: Number.NaN }]],
    ["a progress of undefined total", [{ type: "progress", callId, done: 1, total: undefined }]],
    ["the wrong call id", [{ ...returned("1"), callId: "call-2" }]],
    ["a log for another call", [log({ callId: "call-2" })]],
    ["a call id that is no string", [log({ callId: { toString: "call-1" } })]],
    ["a request that skips a number", [request(1)]],
    ["a request twice", [request(0), request(0)]],
    ["a request of a kind that is none", [request(0, { kind: "process kill" })]],
    ["a request with a fractional number", [request(0.5)]],
    ["arguments that are an object", [request(0, { arguments: { path: "a" } })]],
    ["arguments that are not JSON", [request(0, { arguments: "{" })]],
    ["arguments that are an array", [request(0, { arguments: "[]" })]],
    ["arguments that are too deep", [request(0, { arguments: `{"a":${JSON.stringify(deep)}}` })]],
    [
      "arguments one too long",
      [request(0, { arguments: `{"a":"${"x".repeat(protocolLimits.argumentsLength - 7)}"}` })],
    ],
    ["arguments with a lone surrogate", [request(0, { arguments: '{"path":"\\ud800"}' })]],
    ["a body that is no bytes", [request(0, { body: [1, 2, 3] })]],
    ["a body that can shrink", [request(0, { body: new Uint8Array(new ArrayBuffer(8, { maxByteLength: 16 })) })]],
    ["a body one too long", [request(0, { body: new Uint8Array(protocolLimits.bodyBytes + 1) })]],
    ["an outcome that only the host can know", [{ type: "outcome", callId, outcome: { kind: "lost", reason: "x" } }]],
    ["an outcome of unknown kind", [{ type: "outcome", callId, outcome: { kind: "approved" } }]],
    [
      "an output of another form",
      [{ type: "outcome", callId, outcome: { kind: "returned", output: { form: "text", text: "" } } }],
    ],
    [
      "an output that is a live value",
      [{ type: "outcome", callId, outcome: { kind: "returned", output: { form: "value", value: 1 } } }],
    ],
    [
      "an output with an extra field",
      [{ type: "outcome", callId, outcome: { kind: "returned", output: { form: "json", text: "1", hash: "" } } }],
    ],
    [
      "an error message one too long",
      [
        {
          type: "outcome",
          callId,
          outcome: { kind: "threw", name: "E", message: "x".repeat(protocolLimits.messageLength + 1) },
        },
      ],
    ],
  ])("%s", (_, messages) => expectBroken(messages));

  it("too many log lines", () =>
    expectBroken(
      Array.from({ length: protocolLimits.messages + 1 }, () => log()),
      { kind: "too-large", what: "messages", limit: protocolLimits.messages },
    ));

  it("more requests at the same time than the limit says", async () => {
    const { channel, say } = await loadedGuest();
    const outcome = channel.call(call, { ...heardPort(), request: () => new Promise(() => {}) });
    say(...Array.from({ length: protocolLimits.requestsInFlight + 1 }, (_, i) => request(i)));
    expect(await outcome).toEqual({ kind: "too-large", what: "messages", limit: protocolLimits.requestsInFlight });
    expect(channel.open).toBe(false);
  });
});

describe("a kernel's end that breaks its promise ends the call, and not the process:", () => {
  const rejects = async (): Promise<never> => {
    throw new Error("on purpose");
  };
  const piece = { type: "piece", callId, piece: 0, bytes: Uint8Array.of(1) };
  it.each<[string, Partial<CallPort>, object]>([
    ["a request that rejects", { request: rejects }, request(0)],
    ["a reply that cannot be sent", { request: async () => ({ ok: true, value: (() => {}) as never }) }, request(0)],
    ["a piece that is refused with an exception", { write: rejects }, piece],
    ["a body that rejects", { read: rejects }, { type: "pull", callId }],
  ])("%s", async (_, end, message) => {
    const { channel, broken, say } = await loadedGuest();
    const running = channel.call({ ...call, outputKind: "stream", hasBody: true }, { ...heardPort(), ...end });
    say(message);
    expect(await running).toEqual({ kind: "lost", reason: "the host's message cannot be cloned" });
    expect([broken, channel.open]).toEqual([["the host's message cannot be cloned"], false]);
  });
});
