import type { CallPort, IsolateCall, IsolateOutcome } from "@keyhole/kernel";
import { afterEach, describe, expect, it } from "vitest";
import { type ChannelOptions, GuestChannel } from "../../packages/worker-host/src/protocol/channel.ts";
import { protocolLimits } from "../../packages/worker-host/src/protocol/limits.ts";
import { heardPort } from "../support/heard-port.ts";

/** A guest that says what the test tells it to: the other end of a real message channel, without a shell. */
interface RawGuest {
  readonly channel: GuestChannel;
  readonly broken: string[];
  readonly received: { type: string; [key: string]: unknown }[];
  say(...messages: unknown[]): void;
}

const ports: MessagePort[] = [];
afterEach(() => {
  for (const port of ports.splice(0)) port.close();
});

function rawGuest(options?: ChannelOptions): RawGuest {
  const { port1, port2 } = new MessageChannel();
  ports.push(port1, port2);
  const broken: string[] = [];
  const received: RawGuest["received"] = [];
  port2.onmessage = ({ data }) => received.push(data);
  const channel = new GuestChannel(port1, (reason) => broken.push(reason), options);
  return { channel, broken, received, say: (...messages) => messages.forEach((message) => port2.postMessage(message)) };
}

const ready = { type: "ready", imports: true, wasm: true };

async function loadedGuest(options?: ChannelOptions): Promise<RawGuest> {
  const guest = rawGuest(options);
  guest.say(ready);
  await guest.channel.ready;
  const loading = guest.channel.load("export default {}");
  guest.say({ type: "loaded" });
  expect(await loading).toEqual({ kind: "loaded" });
  return guest;
}

const call: IsolateCall = {
  callId: "call-1",
  sessionId: "session",
  inputText: "{}",
  outputKind: "json",
  outputBytes: 100,
  seed: "0".repeat(64),
  nowMs: 0,
};

const callId = call.callId;
const returned = (text: string) => ({
  type: "outcome",
  callId,
  outcome: { kind: "returned", output: { form: "json", text } },
});
const request = (number: number, more: object = {}) => ({
  type: "request",
  callId,
  request: number,
  kind: "fs.read",
  operation: "read",
  arguments: '{"path":"a"}',
  ...more,
});
const log = (more: object = {}) => ({ type: "log", callId, level: "info", message: "m", ...more });

it("a relay that dies of a call's bound is closed when that call has its end: no other call is sent to it", async () => {
  const { channel, say } = await loadedGuest({ metered: true });
  const outcome = { kind: "out-of-fuel", limit: 1 };
  const ended = channel.call(call, heardPort()).then((end) => ({ end, open: channel.open }));
  say({ type: "died", reason: "out of fuel", by: { callId, outcome } });
  expect(await ended).toEqual({ end: outcome, open: false });
});

describe("a guest that keeps to the protocol", () => {
  it("is heard until its outcome", async () => {
    const { channel, say, broken } = await loadedGuest();
    const end = heardPort();
    const outcome = channel.call(call, end);
    say(log(), { type: "progress", callId, done: 1, total: 2 }, request(0), returned("1"));
    expect(await outcome).toEqual({ kind: "returned", output: { form: "json", text: "1" } });
    expect(end.logs).toEqual([
      { level: "info", message: "m" },
      { done: 1, total: 2 },
    ]);
    expect(end.requests).toEqual([{ kind: "fs.read", operation: "read", arguments: { path: "a" } }]);
    expect([channel.open, channel.busy, broken]).toEqual([true, false, []]);
  });

  it("gets the call, the replies and the cancellation", async () => {
    const guest = await loadedGuest();
    const end = heardPort();
    const outcome = guest.channel.call(call, end);
    guest.say(request(0));
    await expect.poll(() => guest.received.length).toBe(3);
    end.abort();
    await expect.poll(() => guest.received.map(({ type }) => type)).toEqual(["load", "call", "reply", "cancel"]);
    expect(guest.received[2]).toEqual({ type: "reply", callId, request: 0, reply: { ok: true, value: null } });
    guest.say(returned("1"));
    await outcome;
  });

  it("says why it could not load", async () => {
    const { channel, say } = rawGuest();
    say(ready);
    await channel.ready;
    const loading = channel.load("throw 1");
    say({ type: "load-failed", name: "Error", message: "no" });
    expect(await loading).toEqual({ kind: "failed", name: "Error", message: "no" });
  });

  it("may send as many messages as the limit says", async () => {
    const { channel, say } = await loadedGuest();
    const end = heardPort();
    const outcome = channel.call(call, end);
    say(...Array.from({ length: protocolLimits.messages }, () => log()), returned("1"));
    expect((await outcome).kind).toBe("returned");
    expect(end.logs.length).toBe(protocolLimits.messages);
  });

  it("may send an output as large as the call allows", async () => {
    const { channel, say } = await loadedGuest();
    const outcome = channel.call(call, heardPort());
    say(returned(`"${"x".repeat(98)}"`));
    expect((await outcome).kind).toBe("returned");
  });
});

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
    ["a request of unknown kind", [request(0, { kind: "process.kill" })]],
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

describe("an outcome", () => {
  it("counts once: a second answer ends the isolate, and the first stands", async () => {
    const { channel, say, broken } = await loadedGuest();
    const outcome = channel.call(call, heardPort());
    say(returned("1"), returned("2"));
    expect(await outcome).toEqual({ kind: "returned", output: { form: "json", text: "1" } });
    await expect.poll(() => broken).toEqual(["a message for a call that is not running"]);
    expect(channel.open).toBe(false);
  });

  it("before the tool was loaded ends the isolate", async () => {
    const { channel, say, broken } = rawGuest();
    say(ready, { type: "loaded" });
    await channel.ready;
    await expect.poll(() => broken.length).toBe(1);
    expect(await channel.load("export default {}")).toMatchObject({ kind: "lost" });
  });

  it("larger than the call allows is refused", async () => {
    const { channel, say } = await loadedGuest();
    const outcome = channel.call(call, heardPort());
    say(returned(`"${"x".repeat(99)}"`));
    expect(await outcome).toEqual({ kind: "too-large", what: "output", limit: 100 });
  });
});

describe("closing", () => {
  it("answers every caller before anything else can happen", async () => {
    const { channel, say } = await loadedGuest();
    const end = heardPort();
    const outcome = channel.call(call, end);
    say(log(), returned("1"));
    channel.close("deadline");
    expect(await outcome).toEqual({ kind: "lost", reason: "deadline" });
    expect(end.logs).toEqual([]);
  });

  it("gives up on a guest that never was ready", async () => {
    const { channel } = rawGuest();
    channel.close("slow");
    expect(await channel.ready).toBeUndefined();
    expect(await channel.load("")).toEqual({ kind: "lost", reason: "slow" });
    expect(await channel.call(call, heardPort())).toEqual({ kind: "lost", reason: "slow" });
  });

  it("does not reply to a request whose call has ended", async () => {
    const guest = await loadedGuest();
    let reply = (): void => {};
    const outcome = guest.channel.call(call, {
      ...heardPort(),
      request: () => new Promise((resolve) => (reply = () => resolve({ ok: true, value: "late" }))),
    });
    guest.say(request(0), returned("1"));
    await outcome;
    reply();
    const next = guest.channel.call({ ...call, callId: "call-2" }, heardPort());
    guest.say({ ...returned("2"), callId: "call-2" });
    await next;
    await expect.poll(() => guest.received.length).toBe(3);
    expect(guest.received.map(({ type }) => type)).toEqual(["load", "call", "call"]);
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
    expect(await running).toEqual({ kind: "lost", reason: "what the host says cannot be sent" });
    expect([broken, channel.open]).toEqual([["what the host says cannot be sent"], false]);
  });
});
