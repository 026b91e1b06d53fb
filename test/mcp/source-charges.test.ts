import { createKernel, type Kernel, type LogEntry, type PolicyDocument } from "@keyhole/kernel";
import { mcpHttp, type McpSource, mcpSource } from "@keyhole/mcp";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { FakeClock, settle } from "../support/fake-clock.ts";
import { afterwards, closeAfterEach, type Era, eras } from "./support.ts";

/* What a server makes a call send and read, as a use of the call's grants. */

closeAfterEach();

interface Message {
  readonly id?: number | string;
  readonly method?: string;
  readonly params?: { readonly name?: string; readonly cursor?: string; readonly _meta?: Record<string, unknown> };
}
type Answer = object | string | undefined;

/** Members of a result of the newer era. */
const kept = { resultType: "complete", ttlMs: 0, cacheScope: "private" };

const encoder = new TextEncoder();
const event = (message: object): string => `data: ${JSON.stringify({ jsonrpc: "2.0", ...message })}\n\n`;
/** Ends a stream without its answer. */
const cut = "id: 7\nretry: 1\ndata: \n\n";
const log = (length: number): string =>
  event({ method: "notifications/message", params: { level: "info", data: "x".repeat(length) } });
const progress = ({ params }: Message, length: number): string =>
  event({
    method: "notifications/progress",
    params: { progressToken: params?._meta?.["progressToken"], progress: 1, message: "x".repeat(length) },
  });
const done = ({ id }: Message): string => event({ id, result: { ...kept, content: [] } });
const ofPolicy = (budget: object): PolicyDocument => ({
  version: "1",
  posture: "permissive",
  grants: (["net.read", "net.write"] as const).map((kind) => ({
    tool: "*",
    capability: { kind, hosts: ["127.0.0.1"], ports: [80], ...budget },
  })),
});

/** A server over HTTP. A text is a stream of events, and an object a result. */
class Peer {
  /** In place of the kernel's own answers. */
  readonly onCall: (call: Message) => Answer;
  /** Answers to resumptions, one after the other. */
  resumed: Answer[] = [];
  /** The requests, without those that open the connection. */
  readonly seen: string[] = [];
  onList: (list: Message) => Answer = () => ({ resources: [] });
  /** Of the stream that belongs to no request. */
  shared: ReadableStreamDefaultController<Uint8Array> | undefined;

  constructor(onCall: (call: Message) => Answer) {
    this.onCall = onCall;
  }

  say(text: string): void {
    this.shared?.enqueue(encoder.encode(text));
  }

  readonly fetch = async (_: string | URL, init: RequestInit = {}): Promise<Response> => {
    const last = new Headers(init.headers).get("last-event-id");
    if (init.method === "GET" && last === null) {
      const start = (controller: ReadableStreamDefaultController<Uint8Array>): void => void (this.shared = controller);
      return streamOf(new ReadableStream({ start }));
    }
    const message = JSON.parse(typeof init.body === "string" ? init.body : "{}") as Message;
    if (!isOpening(message)) this.seen.push(message.method ?? (last === null ? "answer" : `resume ${last}`));
    const answer = last === null ? this.#answer(message) : this.resumed.shift();
    if (answer === undefined) return new Response(null, { status: 202 });
    if (typeof answer === "string") return streamOf(answer);
    return Response.json({ jsonrpc: "2.0", id: message.id, result: answer });
  };

  #answer(message: Message): Answer {
    switch (message.method) {
      case "server/discover":
        return { ...kept, supportedVersions: ["2026-07-28"], capabilities: { tools: {} } };
      case "initialize":
        return {
          protocolVersion: "2025-11-25",
          capabilities: { tools: {}, resources: {} },
          serverInfo: { name: "peer", version: "1.0.0" },
        };
      case "tools/list":
        return {
          ...kept,
          tools: ["a", "b"].map((name) => ({ name, description: name, inputSchema: { type: "object" } })),
        };
      case "tools/call":
        return this.onCall(message);
      case "resources/list":
        return this.onList(message);
      default:
        return undefined;
    }
  }
}

const streamOf = (body: BodyInit): Response => new Response(body, { headers: { "content-type": "text/event-stream" } });

const isOpening = ({ method }: Message): boolean =>
  ["initialize", "notifications/initialized", "server/discover", "tools/list"].includes(method ?? "");

interface Opened {
  readonly kernel: Kernel;
  readonly source: McpSource;
  readonly clock: FakeClock;
}

async function open(peer: Peer, policy: PolicyDocument, era: Era = "2025-11-25"): Promise<Opened> {
  const clock = new FakeClock();
  const kernel = await createKernel({ policy, clock });
  afterwards(() => kernel.close());
  const server = mcpHttp({ url: "http://127.0.0.1/mcp", fetch: peer.fetch });
  const source = await mcpSource(kernel, { name: "s", server, era, clock });
  afterwards(() => source.close());
  return { kernel, source, clock };
}

/** Lets the client wait for its resumptions until the call has ended. */
async function ended<Result>(clock: FakeClock, call: Promise<Result>): Promise<Result> {
  let isOver = false;
  const over = call.finally(() => (isOver = true));
  for (let turn = 0; !isOver && turn < 1_000; turn++) {
    await settle();
    await clock.advance(100);
  }
  return over;
}

const exceeded = { ok: false, error: { code: "BOUNDS_EXCEEDED" } };

describe("the requests of one call", () => {
  it.each(eras)("beyond its budget are not sent: resumptions, in %s", async (era) => {
    const peer = new Peer(() => cut);
    peer.resumed = [cut, cut, cut];
    const { kernel, clock } = await open(peer, ofPolicy({ requests: 2 }), era);
    const result = await ended(clock, kernel.call("s_a", {}));
    expect(result).toMatchObject({ ...exceeded, meta: { networkRequests: 2 } });
    // In the newer era a stream that ends is the cancellation.
    const notice = era === "2025-11-25" ? ["notifications/cancelled"] : [];
    expect(peer.seen).toEqual(["tools/call", "resume 7", ...notice]);
  });

  it("count each resumption of its own, and stand on record", async () => {
    const calls: Message[] = [];
    const peer = new Peer((call) => (calls.push(call), call.params?.name === "a" ? cut : undefined));
    const { kernel, clock } = await open(peer, ofPolicy({ requests: 3 }));
    const other = kernel.call("s_b", {});
    const call = kernel.call("s_a", {});
    await expect.poll(() => calls).toHaveLength(2);
    peer.resumed = [cut, done(calls.find(({ params }) => params?.name === "a")!)];
    expect(await ended(clock, call)).toMatchObject({ ok: true, meta: { networkRequests: 3 } });
    const used = (await kernel.audit.read()).filter(({ type }) => type === "capability.used");
    expect(used.filter(({ callId }) => callId !== used[0]?.callId)).toHaveLength(6);
    peer.say(done(calls.find(({ params }) => params?.name === "b")!));
    expect(await ended(clock, other)).toMatchObject({ ok: true, meta: { networkRequests: 1 } });
  });

  it("end with a revocation", async () => {
    const peer = new Peer(() => cut);
    const { kernel, clock } = await open(peer, ofPolicy({}));
    const call = kernel.call("s_a", {});
    await expect.poll(() => peer.seen).toHaveLength(1);
    await kernel.grants.revoke({ tool: "s_a" }, "Enough.");
    expect(await ended(clock, call)).toMatchObject({ ok: false, error: { code: "CAPABILITY_DENIED" } });
    await clock.advance(60_000);
    expect(peer.seen.filter((each) => each.startsWith("resume"))).toEqual([]);
  });

  it("count the pages of a list", async () => {
    const peer = new Peer(() => ({}));
    peer.onList = ({ params }) => ({ resources: [], nextCursor: `${params?.cursor ?? ""}x` });
    const { kernel } = await open(peer, ofPolicy({ requests: 3 }));
    expect(await kernel.call("s__list_resources", {})).toMatchObject({ ...exceeded, meta: { networkRequests: 3 } });
    expect(peer.seen.filter((each) => each === "resources/list")).toHaveLength(3);
  });

  it("count the answers to what the server asks in their streams, and no other answers", async () => {
    const asks = (count: number): string =>
      Array.from({ length: count }, (_, at) => event({ id: `p${at}`, method: "ping" })).join("");
    const peer = new Peer((call) => asks(4) + (call.params?.name === "a" ? cut : done(call)));
    const { kernel, clock } = await open(peer, ofPolicy({ requests: 3 }));
    expect(await ended(clock, kernel.call("s_a", {}))).toMatchObject({ ...exceeded, meta: { networkRequests: 3 } });
    expect(peer.seen.filter((each) => each === "answer")).toHaveLength(2);
    peer.say(asks(5));
    await settle();
    expect(peer.seen.filter((each) => each === "answer")).toHaveLength(7);
    // Behind the end of its call no answer is owed.
    await ended(clock, kernel.call("s_b", {}));
    await settle();
    expect(peer.seen.filter((each) => each === "answer").length).toBeLessThanOrEqual(9);
  });
});

describe("the bytes of one call", () => {
  const sent: readonly (readonly [what: string, answer: (call: Message, peer: Peer) => string])[] = [
    ["a log message", () => log(900)],
    ["progress", (call) => progress(call, 900)],
    ["a log message in the stream of no call", (_, peer) => (peer.say(log(900)), cut)],
    ["progress in the stream of no call", (call, peer) => (peer.say(progress(call, 900)), cut)],
    ["a message that no one knows", () => event({ method: "notifications/x", params: { x: "x".repeat(900) } })],
    ["comments", () => ": x\n\n".repeat(180)],
    ["white space", (call) => done(call).replace("{", `{${" ".repeat(900)}`)],
  ];

  it.each(eras)("of the log and of progress are its own in %s, too", async (era) => {
    const peer = new Peer((call) => log(500) + progress(call, 500) + done(call));
    const { kernel, clock } = await open(peer, ofPolicy({ bytes: 1_000 }), era);
    expect(await ended(clock, kernel.call("s_a", {}))).toMatchObject(exceeded);
    await kernel.setPolicy(ofPolicy({ bytes: 2_000 }));
    expect(await ended(clock, kernel.call("s_a", {}))).toMatchObject({ ok: true });
  });

  it.each(sent)("beyond its budget end it: %s", async (_, answer) => {
    const peer: Peer = new Peer(
      (call) => answer(call, peer) + (answer(call, peer).includes('"result"') ? "" : done(call)),
    );
    const words: string[] = [];
    for (const [budget, bounds] of [
      [{ bytes: 800 }, {}],
      [{}, { networkBytes: 800 }],
    ] as const) {
      const { kernel, clock } = await open(peer, { ...ofPolicy(budget), tools: { s_a: { bounds } } });
      const take = ({ message = "" }: { readonly message?: string }): void => void words.push(message);
      const result = await ended(clock, kernel.call("s_a", {}, { onLog: take, onProgress: take }));
      expect(result).toMatchObject(exceeded);
      expect(result.meta.networkBytes).toBeLessThanOrEqual(800);
    }
    expect(words).toEqual([]);
  });

  it("are those of its own messages, in whichever stream they come", async () => {
    const calls = new Map<string | undefined, Message>();
    const peer = new Peer((call) => (calls.set(call.params?.name, call), undefined));
    const { kernel, clock } = await open(peer, ofPolicy({ bytes: 2_000 }));
    const both = ["a", "b"].map((name) => kernel.call(`s_${name}`, {}));
    await expect.poll(() => calls.size).toBe(2);
    // Of the first, of the second, and of neither: there is more than one call.
    const own = progress(calls.get("a")!, 500);
    peer.say(own + progress(calls.get("b")!, 10).repeat(3) + log(5_000));
    peer.say(event({ method: "notifications/resources/list_changed", params: { _meta: { x: "x".repeat(5_000) } } }));
    const answers = ["a", "b"].map((name) => done(calls.get(name)!));
    for (const answer of answers) peer.say(answer);
    const [first, second] = await ended(clock, Promise.all(both));
    const small = progress(calls.get("b")!, 10);
    expect(first?.meta.networkBytes).toBe(2 + own.length + answers[0]!.length);
    expect(second?.meta.networkBytes).toBe(2 + 3 * small.length + answers[1]!.length);
  });

  it("and its requests are counted, also on streams that the server cuts", async () => {
    const part = fc.constantFrom("log", "progress", "ping", "cut", "comment");
    await fc.assert(
      fc.asyncProperty(fc.array(fc.array(part, { maxLength: 4 }), { minLength: 1, maxLength: 4 }), async (streams) => {
        let read = 0;
        const bodyOf = (call: Message, parts: readonly string[], isLast: boolean): string => {
          const texts = {
            log: log(20),
            progress: progress(call, 20),
            ping: event({ id: 1, method: "ping" }),
            cut,
            comment: ":\n\n",
          };
          const said = parts.map((each) => texts[each as keyof typeof texts]).join("");
          const body = said + (isLast ? done(call) : cut);
          read += body.length;
          return body;
        };
        const peer = new Peer((call) => {
          const [first = "", ...rest] = streams.map((parts, at) => bodyOf(call, parts, at === streams.length - 1));
          peer.resumed = rest;
          return first;
        });
        const { kernel, source, clock } = await open(peer, ofPolicy({}));
        const lines: LogEntry[] = [];
        const { ok, meta } = await ended(clock, kernel.call("s_a", {}, { onLog: (entry) => void lines.push(entry) }));
        await settle();
        const answers = 35 * peer.seen.filter((each) => each === "answer").length;
        expect(ok).toBe(true);
        expect(meta.networkRequests).toBe(peer.seen.length);
        expect(meta.networkBytes).toBeGreaterThanOrEqual(2 + read);
        expect(meta.networkBytes).toBeLessThanOrEqual(2 + read + 2 * answers);
        await source.close();
        await kernel.close();
      }),
      { numRuns: 30 },
    );
  });
});
