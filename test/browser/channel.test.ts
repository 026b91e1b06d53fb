import { describe, expect, it } from "vitest";
import { protocolLimits } from "../../packages/worker-host/src/protocol/limits.ts";
import { heardPort } from "../support/heard-port.ts";
import { rawGuest, ready, loadedGuest, call, callId, returned, request, log } from "./raw-guest.ts";

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
