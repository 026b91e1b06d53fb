import { type BusMessage, type BusPort, channelBus } from "@keyhole/bus";
import { describe, expect, it } from "vitest";
import { afterwards, closeAfterEach } from "../mcp/support.ts";

const text = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);
const bytes = (content: string): Uint8Array => new TextEncoder().encode(content);
const outgoing = (content: string, headers: readonly (readonly [string, string])[] = []) => ({
  headers: new Map(headers),
  body: bytes(content),
});

/** Connections to one bus. */
export interface BusSubject {
  readonly connect: () => BusPort | Promise<BusPort>;
  /** Whether the bus says that nobody listens. */
  readonly saysNobody: boolean;
}

/** A channel has two ends: they are connected to in turns. */
export function messageChannel(): BusSubject {
  const { port1, port2 } = new MessageChannel();
  afterwards(() => port1.close());
  const ends = [channelBus(port1), channelBus(port2)] as const;
  let turn = 0;
  return { connect: () => ends[turn++ % 2 === 0 ? 0 : 1], saysNobody: false };
}

/** Messages as they come, and a way to wait for so many. */
export function collector() {
  const messages: BusMessage[] = [];
  let waits: { readonly count: number; readonly done: () => void } | undefined;
  return {
    messages,
    listener(message: BusMessage) {
      messages.push(message);
      if (waits && messages.length >= waits.count) waits.done();
    },
    until(count: number): Promise<void> {
      return new Promise((done) => {
        if (messages.length >= count) done();
        else waits = { count, done };
      });
    },
    get texts() {
      return messages.map(({ body }) => text(body));
    },
  };
}

type Open = () => BusSubject | Promise<BusSubject>;

/** What every connection to a bus must do. `open` gives a bus of its own. */
export function describeBus(name: string, open: Open): void {
  closeAfterEach();
  describe(`a bus: ${name}`, () => {
    carries(open);
    routes(open);
    answers(open);
    bounds(open);
    faults(open);
  });
}

function carries(open: Open): void {
  it("carries subject, reply, headers and every byte", async () => {
    const { connect } = await open();
    const [from, to] = [await connect(), await connect()];
    const heard = collector();
    to.subscribe("a.b", heard.listener);
    await to.flush();
    const body = Uint8Array.from({ length: 256 }, (_, at) => at);
    from.publish("a.b", { reply: "r.1", headers: new Map([["x-one", "1 = é"]]), body });
    await heard.until(1);
    const [message] = heard.messages;
    expect(message).toMatchObject({ subject: "a.b", reply: "r.1", noResponders: false });
    expect(message!.headers.get("x-one")).toBe("1 = é");
    expect([...message!.body]).toEqual([...body]);
  });

  it("holds no reference to what it was given", async () => {
    const { connect } = await open();
    const [from, to] = [await connect(), await connect()];
    const heard = collector();
    to.subscribe("a", heard.listener);
    await to.flush();
    const body = bytes("before");
    from.publish("a", { headers: new Map(), body });
    await from.flush();
    body.fill(0);
    await heard.until(1);
    expect(heard.texts).toEqual(["before"]);
  });

  it("keeps the order of one sender", async () => {
    const { connect } = await open();
    const [from, to] = [await connect(), await connect()];
    const heard = collector();
    to.subscribe("a.*", heard.listener);
    await to.flush();
    for (let at = 0; at < 200; at++) from.publish(`a.${at % 3}`, outgoing(String(at)));
    await heard.until(200);
    expect(heard.texts).toEqual(Array.from({ length: 200 }, (_, at) => String(at)));
  });
}

function routes(open: Open): void {
  it("matches * to one token and > to the rest", async () => {
    const { connect } = await open();
    const [from, to] = [await connect(), await connect()];
    const [star, rest, exact] = [collector(), collector(), collector()];
    to.subscribe("a.*.c", star.listener);
    to.subscribe("a.>", rest.listener);
    to.subscribe("a.b.c", exact.listener);
    await to.flush();
    const subjects = ["a.b.c", "a.x.c", "a.b.c.d", "a", "b.b.c", "a.b"];
    for (const subject of subjects) from.publish(subject, outgoing(subject));
    from.publish("a.end", outgoing("a.end"));
    await rest.until(5);
    expect(star.texts).toEqual(["a.b.c", "a.x.c"]);
    expect(rest.texts).toEqual(["a.b.c", "a.x.c", "a.b.c.d", "a.b", "a.end"]);
    expect(exact.texts).toEqual(["a.b.c"]);
  });

  it("gives a message to one member of each queue and to all others", async () => {
    const { connect } = await open();
    const from = await connect();
    const [queued, other, plain] = [collector(), collector(), collector()];
    for (let member = 0; member < 3; member++) {
      const to = await connect();
      to.subscribe("a", queued.listener, { queue: "q" });
      to.subscribe("a", other.listener, { queue: "p" });
      to.subscribe("a", plain.listener);
      await to.flush();
    }
    for (let at = 0; at < 50; at++) from.publish("a", outgoing(String(at)));
    await Promise.all([queued.until(50), other.until(50), plain.until(150)]);
    await from.flush();
    const once = Array.from({ length: 50 }, (_, at) => String(at)).toSorted();
    expect(queued.texts.toSorted()).toEqual(once);
    expect(other.texts.toSorted()).toEqual(once);
    expect(plain.texts).toHaveLength(150);
  });
}

function answers(open: Open): void {
  it("answers at the reply, also across connections", async () => {
    const { connect } = await open();
    const [asks, answers] = [await connect(), await connect()];
    answers.subscribe("q", ({ reply }) => answers.publish(reply!, outgoing("answer")), { queue: "q" });
    await answers.flush();
    const heard = collector();
    asks.subscribe("inbox.*", heard.listener);
    await asks.flush();
    asks.publish("q", { reply: "inbox.1", ...outgoing("question") });
    await heard.until(1);
    expect(heard.texts).toEqual(["answer"]);
    expect(heard.messages[0]!.noResponders).toBe(false);
  });

  it("hears its own messages, and none after the subscription has stopped", async () => {
    const { connect } = await open();
    const port = await connect();
    const [kept, stopped] = [collector(), collector()];
    const stop = port.subscribe("a", stopped.listener);
    port.subscribe("a", kept.listener);
    await port.flush();
    port.publish("a", outgoing("1"));
    await Promise.all([kept.until(1), stopped.until(1)]);
    stop();
    port.publish("a", outgoing("2"));
    await kept.until(2);
    expect(stopped.texts).toEqual(["1"]);
  });

  it("says that nobody listens, where it knows", async () => {
    const { connect, saysNobody } = await open();
    const port = await connect();
    const heard = collector();
    port.subscribe("inbox.*", heard.listener);
    await port.flush();
    port.publish("nobody", { reply: "inbox.1", ...outgoing("?") });
    port.publish("inbox.2", outgoing("own"));
    await heard.until(saysNobody ? 2 : 1);
    expect(heard.messages.filter(({ noResponders }) => noResponders)).toHaveLength(saysNobody ? 1 : 0);
  });
}

function bounds(open: Open): void {
  it("takes a body at its limit and refuses one byte more", async () => {
    const { connect } = await open();
    const [from, to] = [await connect(), await connect()];
    const heard = collector();
    to.subscribe("a", heard.listener);
    await to.flush();
    const { bodyBytes } = from;
    from.publish("a", { headers: new Map(), body: new Uint8Array(bodyBytes) });
    await heard.until(1);
    expect(heard.messages[0]!.body).toHaveLength(bodyBytes);
    const tooLarge = { headers: new Map<string, string>(), body: new Uint8Array(bodyBytes + 1) };
    expect(() => from.publish("a", tooLarge)).toThrow(RangeError);
  });
}

function faults(open: Open): void {
  it("reports listeners that throw, and brings the next message to all", async () => {
    const { connect } = await open();
    const [from, to] = [await connect(), await connect()];
    const [throwing, calm] = [collector(), collector()];
    const heard: string[] = [];
    to.onFault(() => {
      throw new Error("A listener of faults threw.");
    });
    to.onFault(({ message }) => heard.push(message));
    to.subscribe("a", (message) => {
      throwing.listener(message);
      throw new Error(`fault ${throwing.messages.length}`);
    });
    to.subscribe("a", calm.listener);
    await to.flush();
    for (const content of ["1", "2"]) from.publish("a", outgoing(content));
    await Promise.all([throwing.until(2), calm.until(2)]);
    expect(heard).toEqual(["fault 1", "fault 2"]);
  });
}
