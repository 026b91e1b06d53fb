import { type BusCallers, type BusMessage, type BusPort, memoryBus, sealedCallers } from "@keyhole/bus";
import { readDefinition } from "@keyhole/kernel/foreign-tools";
import { describe, expect, it } from "vitest";
import { FakeClock, settle } from "../support/fake-clock.ts";
import { closeAfterEach } from "../mcp/support.ts";
import { collector } from "./contract.ts";
import { calling, key, serving, until } from "./support.ts";

closeAfterEach();

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const textOf = ({ body }: BusMessage): string => new TextDecoder().decode(body);
const correlation = "0".repeat(31);
const later = (): string => String(Date.now() + 60_000);

/** The hash of a tool that a kernel describes. */
async function hashOf(port: BusPort, tool: string): Promise<string> {
  const heard = collector();
  const stop = port.subscribe("_INBOX.probe.describe", heard.listener);
  port.publish(`keyhole.tool.${tool}.describe`, {
    reply: "_INBOX.probe.describe",
    headers: new Map([
      ["keyhole-kind", "describe"],
      ["keyhole-correlation", `${correlation}d`],
    ]),
    body: bytes(""),
  });
  await heard.until(2);
  stop();
  const read = readDefinition(JSON.parse(textOf(heard.messages[0]!)) as { name: string });
  return read.ok ? read.pin.hash : "";
}

type Headers = Readonly<Record<string, string | undefined>>;

/** A kernel that serves, and a stranger who can send whatever the bus carries. */
async function stranger(options: Parameters<typeof serving>[1] = {}) {
  const bus = memoryBus();
  const far = await serving(bus.connect(), options);
  const port = bus.connect();
  const heard = collector();
  port.subscribe("_INBOX.probe.reply", heard.listener);
  const definition = options.callers ? "" : await hashOf(port, "pay");
  let sent = 0;
  const send = (body: Uint8Array, headers: Headers = {}, subject = "keyhole.tool.pay.request"): void => {
    const own: Headers = {
      "keyhole-kind": "request",
      "keyhole-correlation": `${correlation}${(sent++ % 16).toString(16)}`,
      "keyhole-deadline": later(),
      "keyhole-definition": definition,
      ...headers,
    };
    const entries = Object.entries(own).filter((entry): entry is [string, string] => entry[1] !== undefined);
    port.publish(subject, { reply: "_INBOX.probe.reply", headers: new Map(entries), body });
  };
  const answers = (): readonly string[] =>
    heard.messages.map((message) => {
      const { code = "ok" } = JSON.parse(textOf(message) || "{}") as { code?: string };
      return code;
    });
  return { bus, far, port, heard, send, answers };
}

const pays = bytes('{"amount":1}');

describe("a request", () => {
  const deep = `{"amount":1,"deep":${"[".repeat(65)}${"]".repeat(65)}}`;
  it.each([
    ["that is not JSON", bytes("amount=1")],
    ["that is not UTF-8", Uint8Array.of(0x7b, 0xff, 0x7d)],
    ["that is JSON of no object", bytes("[1]")],
    ["that nests too deep", bytes(deep)],
    ["with a key __proto__", bytes('{"amount":1,"__proto__":{"admin":true}}')],
    ["with too many values", bytes(`{"amount":1,"many":[${"0,".repeat(200_000)}0]}`)],
    ["without a body", bytes("")],
  ])("%s is refused, and nothing runs", async (_, body) => {
    const { far, heard, send, answers } = await stranger();
    send(body);
    await heard.until(1);
    expect(answers()).toEqual(["BAD_REQUEST"]);
    expect(far.served.deeds).toEqual([]);
  });

  it.each([
    ["without a deadline", { "keyhole-deadline": undefined }, "BAD_REQUEST"],
    ["with a deadline in the past", { "keyhole-deadline": "1" }, "DEADLINE_PASSED"],
    ["with a deadline in a year", { "keyhole-deadline": String(Date.now() + 31_536_000_000) }, "BAD_REQUEST"],
    ["with a deadline that is no number", { "keyhole-deadline": "1e99" }, "BAD_REQUEST"],
    ["for another definition", { "keyhole-definition": `blake3:${"0".repeat(64)}` }, "DEFINITION_CHANGED"],
    ["with a key at the subject without keys", { "keyhole-idempotency-key": "0".repeat(64) }, "BAD_REQUEST"],
    ["with a trace of a thousand characters", { traceparent: "0".repeat(1_000) }, "BAD_REQUEST"],
    ["of another kind", { "keyhole-kind": "result" }, "BAD_REQUEST"],
  ])("%s is refused, and nothing runs", async (_, headers, code) => {
    const { far, heard, send, answers } = await stranger();
    send(pays, headers);
    await heard.until(1);
    expect(answers()).toEqual([code]);
    expect(far.served.deeds).toEqual([]);
  });

  it("that names its caller in a header is that of the caller who is configured", async () => {
    const { far, heard, send } = await stranger();
    send(pays, { "keyhole-caller": "root", "keyhole-tenant": "other", caller: "root" });
    await heard.until(1);
    const events = JSON.stringify(await far.kernel.audit.read());
    expect(events).toContain('"bus"');
    expect(events).not.toContain("root");
  });

  it.each([
    ["no seal", undefined],
    ["a seal of zeros", `one:${"0".repeat(64)}`],
    ["the seal of nobody known", `three:${"0".repeat(64)}`],
  ])("with %s is refused where callers seal", async (_, credential) => {
    const callers = sealedCallers([[{ id: "one", key: key(1) }, { caller: "planner" }]]);
    const { far, heard, send, answers } = await stranger({ callers });
    send(pays, { "keyhole-credential": credential });
    await heard.until(1);
    expect(answers()).toEqual(["UNKNOWN_CALLER"]);
    expect(far.served.deeds).toEqual([]);
  });

  it.each([
    "orders.pay",
    "_INBOX",
    "_INBOXES.1",
    "keyhole.tool.pay.request",
    "bad subject",
    "a..b",
    "*",
    "a.>",
    "x".repeat(257),
  ])("whose answer would go to %s is dropped", async (reply) => {
    const { far, port } = await stranger();
    const headers = new Map([
      ["keyhole-kind", "request"],
      ["keyhole-correlation", `${correlation}0`],
    ]);
    port.publish("keyhole.tool.pay.request", { reply, headers, body: pays });
    await until(() => far.errors.length > 0);
    expect(far.errors[0]).toContain("cannot be answered");
    expect(far.served.deeds).toEqual([]);
  });

  it("is answered at the inboxes that the program names, and at no other", async () => {
    const bus = memoryBus();
    const far = await serving(bus.connect(), { inboxes: ["_INBOX_planner"] });
    const port = bus.connect();
    const heard = collector();
    for (const inbox of ["_INBOX", "_INBOX_planner"]) port.subscribe(`${inbox}.a`, heard.listener);
    const headers = new Map([
      ["keyhole-kind", "describe"],
      ["keyhole-correlation", `${correlation}0`],
    ]);
    for (const inbox of ["_INBOX", "_INBOX_planner"])
      port.publish("keyhole.tool._.describe", { reply: `${inbox}.a`, headers, body: bytes("") });
    await heard.until(1);
    await settle();
    expect(new Set(heard.messages.map(({ subject }) => subject))).toEqual(new Set(["_INBOX_planner.a"]));
    expect(far.served.deeds).toEqual([]);
  });

  it("that is sent again is the same call, and its answer comes again", async () => {
    const { far, heard, send } = await stranger();
    send(pays, { "keyhole-correlation": `${correlation}f` });
    await heard.until(1);
    send(pays, { "keyhole-correlation": `${correlation}f` });
    await heard.until(2);
    expect(heard.messages.map(textOf)).toEqual(['{"paid":1}', '{"paid":1}']);
    expect(far.served.deeds).toEqual(["pay 1"]);
  });
});

it("a program whose onError throws loses no call with it", async () => {
  const bus = memoryBus();
  const connection = bus.connect();
  const onError = (): void => {
    throw new Error("The log is full.");
  };
  const far = await serving(connection, { onError });
  const near = await calling(bus.connect());
  void near.call("wait", {});
  await far.served.waiting.promise;
  connection.close();
  far.served.gate.resolve();
  // It waits for each call, to which no answer goes any more.
  await expect(far.server.close()).resolves.toBeUndefined();
});

describe("a flood of calls", () => {
  it("of one caller leaves places to another", async () => {
    const callers: BusCallers = ({ headers }) => ({
      caller: { caller: headers.get("test-caller") ?? "nobody" },
      credential: undefined,
    });
    const { far, port, heard, send } = await stranger({ callers });
    const wait = await hashOf(port, "wait");
    const started = (caller: string, at: number): void =>
      send(
        bytes("{}"),
        {
          "test-caller": caller,
          "keyhole-definition": wait,
          "keyhole-correlation": at.toString(16).padStart(32, "0"),
        },
        "keyhole.tool.wait.request",
      );
    const busy = (): number => heard.messages.filter((message) => textOf(message).includes('"BUSY"')).length;
    for (let at = 0; at < 600; at++) started("one", at);
    await until(() => busy() === 100);
    started("two", 600);
    await settle();
    expect(busy()).toBe(100);
    far.served.gate.resolve();
  });
});

describe("a flood of questions for definitions", () => {
  it("is answered twenty times at once, then ten times a second, and takes no answer from another caller", async () => {
    const clock = new FakeClock();
    const callers: BusCallers = ({ headers }) => ({
      caller: { caller: headers.get("test-caller") ?? "nobody" },
      credential: undefined,
    });
    const { far, port } = await stranger({ callers, clock });
    const heard = collector();
    port.subscribe("_INBOX.flood.reply", heard.listener);
    const ask = (caller: string): void => {
      const headers = new Map([
        ["keyhole-kind", "describe"],
        ["keyhole-correlation", `${correlation}0`],
        ["test-caller", caller],
      ]);
      port.publish("keyhole.tool._.describe", { reply: "_INBOX.flood.reply", headers, body: bytes("") });
    };
    const ends = (): number =>
      heard.messages.filter((message) => message.headers.get("keyhole-kind") === "described").length;
    for (let at = 0; at < 100; at++) ask("one");
    await settle();
    expect(ends()).toBe(20);
    expect(far.errors.length).toBe(10);
    ask("two");
    await settle();
    expect(ends()).toBe(21);
    await clock.advance(100);
    ask("one");
    ask("one");
    await settle();
    expect(ends()).toBe(22);
  });
});
