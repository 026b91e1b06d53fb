import { once } from "node:events";
import { duplexPair, PassThrough } from "node:stream";
import { describe, expect, it } from "vitest";
import { ClientRelay } from "../../packages/keyhole/src/command/share/relay.ts";

/* The client of one process, served by another one, and then by a third. */

type Message = Readonly<Record<string, unknown>>;

const request = (id: number | string, method: string, params: object = {}): Message => ({ id, method, params });
const answer = (id: number | string): Message => ({ jsonrpc: "2.0", id, result: {} });

function setUp() {
  const [input, output] = [new PassThrough(), new PassThrough()];
  const notes: string[] = [];
  const heard: Message[] = [];
  output.on("data", (chunk: Buffer) => {
    for (const line of chunk.toString().trimEnd().split("\n")) heard.push(JSON.parse(line) as Message);
  });
  const relay = new ClientRelay(input, output, (text) => void notes.push(text));
  return { relay, input, notes, heard, say: (message: Message) => input.write(`${JSON.stringify(message)}\n`) };
}

/** A host that notes each message. */
function hostFor(relay: ClientRelay) {
  const [near, far] = duplexPair();
  const seen: Message[] = [];
  far.on("data", (chunk: Buffer) => {
    for (const line of chunk.toString().trimEnd().split("\n")) seen.push(JSON.parse(line) as Message);
  });
  const gone = relay.over(near);
  const say = (message: Message): void => void far.write(`${JSON.stringify(message)}\n`);
  const end = (): Promise<"client" | "host"> => (near.destroy(), gone);
  return { seen, say, end, gone, far };
}

const idsOf = (messages: readonly Message[]): unknown[] => messages.map(({ id, method }) => id ?? method);

describe("a client that another process serves", () => {
  it("has its messages carried both ways, and the notes of the host told to its person", async () => {
    const { relay, input, notes, heard, say } = setUp();
    const host = hostFor(relay);
    say(request(1, "tools/list"));
    await expect.poll(() => idsOf(host.seen)).toEqual([1]);
    host.say(answer(1));
    host.say({ keyhole: { note: "a waits: http://127.0.0.1/1\n" } });
    await expect.poll(() => notes).toEqual(["a waits: http://127.0.0.1/1\n"]);
    expect(heard).toEqual([answer(1)]);
    input.end();
    expect(await host.gone).toBe("client");
    await once(host.far, "end");
  });

  it("is served on by the next host: handshake and lists are repeated, a call is not, and a call that came between is sent once", async () => {
    const { relay, heard, say } = setUp();
    const first = hostFor(relay);
    say(request("i", "initialize"));
    await expect.poll(() => first.seen.length).toBe(1);
    first.say(answer("i"));
    say({ method: "notifications/initialized" });
    say(request(2, "tools/call", { name: "a" }));
    say(request(3, "tools/list"));
    say(request(4, "tools/call", { name: "b" }));
    say({ method: "notifications/cancelled", params: { requestId: 4 } });
    await expect.poll(() => first.seen.length).toBe(6);
    expect(await first.end()).toBe("host");
    const lost = { id: 2, error: { code: -32_603, message: expect.stringContaining("The call may have run") } };
    await expect.poll(() => heard).toMatchObject([{ id: "i" }, lost]);
    say(request(5, "tools/call", { name: "c" }));
    const second = hostFor(relay);
    await expect.poll(() => idsOf(second.seen)).toEqual(["i", "notifications/initialized", 3, 5]);
    for (const id of ["i", 3, 5]) second.say(answer(id));
    await expect.poll(() => idsOf(heard)).toEqual(["i", 2, 3, 5]);
    await second.end();
  });

  it("hears an answer to its handshake once, from the host that gave it", async () => {
    const { relay, heard, say } = setUp();
    const first = hostFor(relay);
    say(request(0, "initialize"));
    await expect.poll(() => first.seen.length).toBe(1);
    await first.end();
    const second = hostFor(relay);
    await expect.poll(() => idsOf(second.seen)).toEqual([0]);
    second.say(answer(0));
    await expect.poll(() => idsOf(heard)).toEqual([0]);
    await second.end();
  });

  it("and a host that sends what is no message are carried as they are", async () => {
    const { relay, input } = setUp();
    const host = hostFor(relay);
    const bytes: Buffer[] = [];
    host.far.removeAllListeners("data").on("data", (chunk: Buffer) => void bytes.push(chunk));
    input.write('[{"id":1}]\nno JSON\n\n{"id":{"a":1},"method":7}\n{"__proto__":{"method":"initialize"}}\n');
    await expect
      .poll(() => Buffer.concat(bytes).toString())
      .toBe('[{"id":1}]\nno JSON\n{"id":{"a":1},"method":7}\n{"__proto__":{"method":"initialize"}}\n');
    await host.end();
  });
});
