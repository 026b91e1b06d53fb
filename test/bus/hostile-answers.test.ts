import { type BusMessage, memoryBus } from "@keyhole/bus";
import { describe, expect, it } from "vitest";
import { FakeClock, settle } from "../support/fake-clock.ts";
import { closeAfterEach } from "../mcp/support.ts";
import { calling, serving } from "./support.ts";

closeAfterEach();

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

/** A kernel that calls what a hostile service answers. */
async function against(answer: (request: BusMessage, send: Send) => void, options: Parameters<typeof calling>[1] = {}) {
  const bus = memoryBus();
  const port = bus.connect();
  const send: Send = ({ reply, headers }, kind, body, more = {}) =>
    port.publish(reply!, {
      headers: new Map([
        ["keyhole-kind", kind],
        ["keyhole-correlation", headers.get("keyhole-correlation")!],
        ...Object.entries(more),
      ]),
      body: typeof body === "string" ? bytes(body) : body,
    });
  const definition = { name: "pay", description: "Pays.", inputSchema: { type: "object" }, output: { kind: "json" } };
  port.subscribe("keyhole.tool.*.describe", (message) => {
    send(message, "definition", JSON.stringify(definition));
    send(message, "described", "");
  });
  port.subscribe("keyhole.tool.pay.request", (message) => answer(message, send), { queue: "keyhole" });
  port.subscribe("keyhole.tool.pay.control", () => {});
  const near = await calling(bus.connect(), { expect: ["pay"], ...options });
  return { bus, port, near, send };
}

type Send = (
  request: BusMessage,
  kind: string,
  body: string | Uint8Array,
  more?: Readonly<Record<string, string>>,
) => void;

const ok = { "keyhole-outcome": "ok", "keyhole-form": "json" } as const;

describe("an answer", () => {
  it.each([
    ["that is not JSON", "paid", ok],
    ["with a key __proto__", '{"__proto__":{}}', ok],
    ["that nests too deep", "[".repeat(65) + "]".repeat(65), ok],
    ["of an unknown form", "1", { ...ok, "keyhole-form": "yaml" }],
  ])("%s fails the call", async (_, body, more) => {
    const { near } = await against((request, send) => send(request, "result", body, more));
    const [code, message] = await near.failure("pay", {});
    expect([code, message]).toEqual(["TOOL_ERROR", "The result of pay cannot be read."]);
  });

  it("of another exchange is dropped", async () => {
    const { near } = await against((request, send) => {
      const other = new Map([["keyhole-correlation", "f".repeat(32)]]);
      send({ ...request, headers: other }, "result", '"forged"', ok);
      send(request, "result", '"own"', ok);
    });
    expect(await near.call("pay", {})).toMatchObject({ ok: true, data: "own" });
    expect(near.errors).toEqual(["An answer is of another exchange than its subject. It was dropped."]);
  });

  it("that comes after the deadline changes nothing", async () => {
    const clock = new FakeClock();
    const asked = Promise.withResolvers<BusMessage>();
    const { near, send } = await against((request) => asked.resolve(request), { clock });
    const failure = near.failure("pay", {});
    const request = await asked.promise;
    await clock.advance(60_000);
    expect((await failure)[1]).toMatch(/^It is unknown whether the call ran/);
    send(request, "result", '"late"', ok);
    await settle();
    expect(near.errors).toEqual(["An answer came that nobody waits for. It was dropped."]);
  });

  it("that never comes ends the call after three questions, as one whose outcome is unknown", async () => {
    const clock = new FakeClock();
    const asked = Promise.withResolvers<BusMessage>();
    const { near } = await against((request) => asked.resolve(request), { clock });
    const failure = near.failure("pay", {});
    await asked.promise;
    await clock.advance(8_000);
    const [, message] = await failure;
    expect(message).toContain("The kernel that serves pay does not answer any more.");
    expect(message).toMatch(/^It is unknown whether the call ran/);
  });

  it("with a lost part is asked for again, and comes whole", async () => {
    const { bus, near, send } = await against((request, answer) => {
      answer(request, "part", '"a', { "keyhole-sequence": "1" });
      answer(request, "part", "c", { "keyhole-sequence": "3" });
      answer(request, "result", '"', { ...ok, "keyhole-parts": "3" });
    });
    const again = bus.connect();
    again.subscribe("keyhole.tool.pay.request", (request) => {
      again.subscribe("keyhole.tool.pay.control", () => {
        for (const [at, text] of ['"a', "b", "c"].entries())
          send(request, "part", text, { "keyhole-sequence": String(at + 1) });
        send(request, "result", '"', { ...ok, "keyhole-parts": "3" });
      });
    });
    expect(await near.call("pay", {})).toMatchObject({ ok: true, data: "abc" });
  });

  it("whose parts are lost each time fails the call", async () => {
    const lost = (request: BusMessage, send: Send): void =>
      send(request, "result", '"', { ...ok, "keyhole-parts": "1" });
    const { bus, near, send } = await against(lost);
    const again = bus.connect();
    again.subscribe("keyhole.tool.pay.request", (request) => {
      again.subscribe("keyhole.tool.pay.control", () => lost(request, send));
    });
    expect((await near.failure("pay", {}))[1]).toBe("A part of the result of pay was lost.");
  });

  it.each([
    ["of more bytes than the caller takes", "x".repeat(1_000_000), 5],
    ["in parts without end", "x", 10_001],
  ])("%s fails the call", async (_, text, count) => {
    const { near } = await against((request, send) => {
      for (let at = 1; at <= count; at++) send(request, "part", text, { "keyhole-sequence": String(at) });
    });
    expect((await near.failure("pay", {}))[1]).toBe("The result of pay is larger than 4194304 bytes.");
  });

  it("of progress without end is cut off", async () => {
    const { near } = await against((request, send) => {
      for (let at = 1; at <= 10_001; at++) send(request, "progress", '{"done":1}', { "keyhole-sequence": String(at) });
    });
    const [, message] = await near.failure("pay", {});
    expect(message).toContain("reported more than 10000 times");
  });
});

describe("a service that describes", () => {
  async function described(bodies: readonly string[], count = 1) {
    const bus = memoryBus();
    const port = bus.connect();
    port.subscribe("keyhole.tool.*.describe", ({ reply, headers }) => {
      const own = ["keyhole-correlation", headers.get("keyhole-correlation")!] as const;
      for (let at = 0; at < count; at++)
        for (const body of bodies)
          port.publish(reply!, { headers: new Map([["keyhole-kind", "definition"], own]), body: bytes(body) });
    });
    return calling(bus.connect(), { expect: [], discoveryMs: 50 });
  }
  const definition = (name: string, description = "A tool."): string =>
    JSON.stringify({ name, description, inputSchema: { type: "object" }, output: { kind: "json" } });

  it.each(["*", ">", "pay.>", "pay me", "Pay", "pay\nme", "", "_", "x".repeat(65)])(
    "a tool named %j gives none, and no subject",
    async (name) => {
      const { source, errors } = await described([definition(name), definition("good")]);
      expect(source.tools.map(({ serverName }) => serverName)).toEqual(["good"]);
      expect(errors).toEqual(["A definition on the bus is not one of a tool. It was dropped."]);
    },
  );

  it("one name in two ways gives a tool that cannot be called", async () => {
    const { source, kernel } = await described([definition("pay", "Pays."), definition("pay", "Pays twice.")]);
    expect(source.tools).toMatchObject([{ name: "far_pay", state: "refused" }]);
    expect(kernel.list()).toEqual([]);
  });

  it("one tool from many kernels gives one tool", async () => {
    const { source } = await described([definition("pay")], 50);
    expect(source.tools).toMatchObject([{ name: "far_pay", state: "open" }]);
  });

  it("without end is not heard any more", async () => {
    await expect(described([definition("pay")], 10_001)).rejects.toThrow("describe too much");
  });

  it("something else than before gives a tool that waits for a person", async () => {
    const bus = memoryBus();
    const far = await serving(bus.connect());
    const near = await calling(bus.connect());
    await far.server.close();
    const port = bus.connect();
    port.subscribe("keyhole.tool.*.describe", ({ reply, headers }) => {
      const own = ["keyhole-correlation", headers.get("keyhole-correlation")!] as const;
      for (const name of ["pay", "wait", "bytes"])
        port.publish(reply!, {
          headers: new Map([["keyhole-kind", "definition"], own]),
          body: bytes(definition(name)),
        });
      port.publish(reply!, { headers: new Map([["keyhole-kind", "described"], own]), body: bytes("") });
    });
    await near.source.refresh();
    expect(near.source.tools.map(({ state }) => state)).toEqual(["changed", "changed", "changed"]);
    expect((await near.failure("pay", { amount: 1 }))[1]).toContain("changed the definition");
  });
});
