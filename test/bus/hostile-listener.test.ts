import { type BusMessage, memoryBus, sealedCallers } from "@keyhole/bus";
import { describe, expect, it } from "vitest";
import { closeAfterEach } from "../mcp/support.ts";
import { settle } from "../support/fake-clock.ts";
import { collector } from "./contract.ts";
import { calling, key, serving, until } from "./support.ts";

closeAfterEach();

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const textOf = ({ body }: BusMessage): string => new TextDecoder().decode(body);
const later = (): string => String(Date.now() + 60_000);

/** Copies a sealed request off the bus, as a listener can. */
async function overheard() {
  const bus = memoryBus();
  const credentials = [
    { id: "one", key: key(1) },
    { id: "two", key: key(2) },
  ] as const;
  const callers = sealedCallers(credentials.map((each) => [each, { caller: each.id }] as const));
  const far = await serving(bus.connect(), { callers });
  const near = await calling(bus.connect(), { credential: credentials[0] });
  const listener = bus.connect();
  const heard = collector();
  listener.subscribe("keyhole.tool.wait.request", heard.listener);
  const call = near.failure("wait", {});
  await far.served.waiting.promise;
  return { bus, far, near, listener, request: heard.messages[0]!, call };
}

describe("a listener on the bus", () => {
  it.each(["keyhole-deadline", "traceparent", "keyhole-definition"])("cannot change %s of a request", async (name) => {
    const { far, listener, request, call } = await overheard();
    const headers = new Map(request.headers).set(name, later());
    const stolen = collector();
    listener.subscribe("_INBOX.thief.1", stolen.listener);
    listener.publish(request.subject, { reply: "_INBOX.thief.1", headers, body: request.body });
    await stolen.until(1);
    expect(textOf(stolen.messages[0]!)).toContain("UNKNOWN_CALLER");
    far.served.gate.resolve();
    expect(await call).toEqual(["ok", ""]);
    expect(far.served.deeds).toEqual(["wait"]);
  });

  it("cannot have an overheard request run a second time, by any kernel", async () => {
    const { bus, far, near, listener, request, call } = await overheard();
    const callers = sealedCallers([[{ id: "one", key: key(1) }, { caller: "one" }]]);
    const others = [await serving(bus.connect(), { callers }), await serving(bus.connect(), { callers })];
    const { subject, reply, headers, body } = request;
    for (let at = 0; at < 9; at++) listener.publish(subject, { ...(reply !== undefined && { reply }), headers, body });
    await until(() => near.errors.length > 0);
    expect(near.errors[0]).toBe("An answer is of a kernel that does not run the call. It was dropped.");
    far.served.gate.resolve();
    expect(await call).toEqual(["ok", ""]);
    await settle();
    expect([far, ...others].flatMap(({ served }) => served.deeds)).toEqual(["wait"]);
  });

  it("cannot have a kernel start what it offers", async () => {
    const { bus, far, listener, request, call } = await overheard();
    const callers = sealedCallers([[{ id: "one", key: key(1) }, { caller: "one" }]]);
    const other = await serving(bus.connect(), { callers });
    const offers = collector();
    listener.subscribe(request.reply!, offers.listener);
    const { subject, reply, headers, body } = request;
    for (let at = 0; at < 2; at++) listener.publish(subject, { reply: reply!, headers, body });
    const kindOf = (message: (typeof offers.messages)[number]) => message.headers.get("keyhole-kind");
    await until(() => offers.messages.some((message) => kindOf(message) === "offer"));
    const offer = offers.messages.find((message) => kindOf(message) === "offer")!;
    const own = request.headers.get("keyhole-correlation")!;
    const take = new Map([
      ["keyhole-kind", "take"],
      ["keyhole-correlation", own],
      ["keyhole-kernel", offer.headers.get("keyhole-kernel")!],
    ]);
    listener.publish("keyhole.tool.wait.control", { headers: take, body: bytes("") });
    const seal = request.headers.get("keyhole-credential")!;
    const sealed = new Map([...take, ["keyhole-credential", seal]]);
    listener.publish("keyhole.tool.wait.control", { headers: sealed, body: bytes("") });
    await settle();
    expect(other.served.deeds).toEqual([]);
    far.served.gate.resolve();
    await call;
  });

  it("cannot cancel another's call, though it knows the correlation", async () => {
    const { bus, far, listener, request, call } = await overheard();
    const own = request.headers.get("keyhole-correlation")!;
    const headers = new Map([
      ["keyhole-kind", "cancel"],
      ["keyhole-correlation", own],
    ]);
    listener.publish("keyhole.tool.wait.control", { headers, body: bytes("") });
    const seal = request.headers.get("keyhole-credential")!;
    const sealed = new Map([...headers, ["keyhole-credential", seal]]);
    listener.publish("keyhole.tool.wait.control", { headers: sealed, body: bytes("") });
    const other = await calling(bus.connect(), { name: "other", credential: { id: "two", key: key(2) } });
    expect(await other.kernel.call("other_pay", { amount: 1 })).toMatchObject({ ok: true });
    far.served.gate.resolve();
    expect(await call).toEqual(["ok", ""]);
  });

  it("cannot answer for the kernel, though it knows reply and correlation", async () => {
    const { far, near, listener, request, call } = await overheard();
    const headers = new Map([
      ["keyhole-kind", "result"],
      ["keyhole-correlation", request.headers.get("keyhole-correlation")!],
      ["keyhole-outcome", "ok"],
      ["keyhole-form", "text"],
    ]);
    listener.publish(request.reply!, { headers, body: bytes("forged") });
    await until(() => near.errors.length > 0);
    expect(near.errors).toEqual(["An answer has no valid seal. It was dropped."]);
    far.served.gate.resolve();
    expect(await call).toEqual(["ok", ""]);
  });
});
