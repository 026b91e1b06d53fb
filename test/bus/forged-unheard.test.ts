import { type BusMessage, type BusPort, everyCaller, memoryBus, sealedCallers } from "@keyhole/bus";
import { describe, expect, it } from "vitest";
import { Delivery } from "../../packages/bus/src/source/delivery.ts";
import { closeAfterEach } from "../mcp/support.ts";
import { FakeClock, passUntil, settle } from "../support/fake-clock.ts";
import { randomFrom } from "../support/random.ts";
import { collector } from "./contract.ts";
import { calling, key, serving, until } from "./support.ts";

closeAfterEach();

const credential = { id: "one", key: key(1) };
const callers = sealedCallers([[credential, { caller: "planner" }]]);

/** A connection at which a peer can forge the bus's report that no one listens. */
function forgeable(port: BusPort) {
  const listeners = new Set<(message: BusMessage) => void>();
  const subscribe: BusPort["subscribe"] = (pattern, listener, options) => {
    if (pattern.startsWith("_INBOX.")) listeners.add(listener);
    return port.subscribe(pattern, listener, options);
  };
  const forged = new Proxy(port, {
    get(target, name) {
      if (name === "subscribe") return subscribe;
      const member: unknown = Reflect.get(target, name);
      return typeof member === "function" ? (member.bind(target) as unknown) : member;
    },
  });
  const forge = (subject: string): void => {
    const nobody = { subject, reply: undefined, headers: new Map(), body: new Uint8Array(), noResponders: true };
    for (const listener of listeners) listener(nobody);
  };
  return { port: forged, forge };
}

/** A caller whose requests a peer without a key hears. */
async function overheard(options: Parameters<typeof serving>[1], credentials: Parameters<typeof calling>[1]) {
  const bus = memoryBus();
  const clock = new FakeClock();
  const far = await serving(bus.connect(), { ...options, clock });
  const { port, forge } = forgeable(bus.connect());
  const heard = collector();
  const peer = bus.connect();
  peer.subscribe("keyhole.tool.wait.>", (message) => {
    if (message.reply !== undefined) heard.listener(message);
  });
  const near = await calling(port, { ...credentials, clock });
  const forgeAll = (): void => heard.messages.forEach(({ reply }) => forge(reply!));
  return { bus, clock, far, near, forgeAll };
}

describe("a forged report that no one listens", () => {
  it.each([
    ["sealed", { callers }, { credential }, {}],
    ["sealed, with a key", { callers, keys: { index: 0, of: 1 } }, { credential }, { idempotencyKey: "order 7" }],
    ["not sealed", {}, {}, {}],
  ])("does not end a call that runs, nor makes it one that did not run: %s", async (_, served, calls, options) => {
    const { clock, far, near, forgeAll } = await overheard(served, calls);
    const failure = near.failure("wait", {}, options);
    await far.served.waiting.promise;
    await settle();
    for (let at = 0; at < 9; at++) {
      forgeAll();
      await clock.advance(2_000);
    }
    forgeAll();
    await near.source.close();
    expect((await failure)[1]).toMatch(/^It is unknown whether the call ran/);
    expect(far.served.deeds).toEqual(["wait"]);
  });

  it("counts once for a request, also before a kernel offers to run the call", async () => {
    const bus = memoryBus();
    const far = await serving(bus.connect(), { callers });
    const { port, forge } = forgeable(bus.connect());
    bus.connect().subscribe("keyhole.tool.wait.request", ({ reply }) => {
      for (let at = 0; at < 9; at++) forge(reply!);
    });
    const near = await calling(port, { credential });
    const failure = near.failure("wait", {});
    await Promise.race([far.served.waiting.promise, failure]);
    far.served.gate.resolve();
    expect(await failure).toEqual(["ok", ""]);
  });

  it("ends no discovery of kernels that seal", async () => {
    const bus = memoryBus();
    await serving(bus.connect(), { callers });
    const { port, forge } = forgeable(bus.connect());
    bus.connect().subscribe("keyhole.tool._.describe", ({ reply }) => forge(reply!));
    const near = await calling(port, { credential });
    expect(near.source.tools).toHaveLength(3);
  });
});

describe("a sealed call", () => {
  it("that no kernel offers to run did not run", async () => {
    const [bus, clock] = [memoryBus(), new FakeClock()];
    const far = await serving(bus.connect(), { callers, clock });
    const near = await calling(bus.connect(), { credential, clock });
    await far.server.close();
    const failure = near.failure("wait", {});
    await passUntil(clock, settle(), failure);
    expect((await failure)[1]).toBe("Nothing ran. No kernel serves wait on the bus.");
  });

  it("does not run in a kernel that cannot seal its answer", async () => {
    const { bus, clock, far, near } = await overheard({ callers }, { credential });
    await far.server.close();
    const open = await serving(bus.connect(), { callers: everyCaller({ caller: "bus" }), clock });
    const failure = near.failure("wait", {});
    await until(() => near.errors.length > 0);
    await clock.advance(10_000);
    expect((await failure)[1]).toMatch(/^Nothing ran\./);
    await settle();
    expect(open.served.deeds).toEqual([]);
  });
});

describe("what the caller of a sealed call knows", () => {
  it.each([
    ["no take", "took"],
    ["no request", "requested"],
  ] as const)("comes from its own acts alone: %s", (proof, starts) => {
    const random = randomFrom(1);
    const acts = ["requested", "took", "answered", "unheard", "unheard"] as const;
    for (let round = 0; round < 200; round++) {
      const delivery = new Delivery(proof);
      const done = new Set<string>();
      for (let at = 0; at < 12; at++) {
        // A caller takes an offer only.
        const act = acts.filter((each) => each !== "took" || proof === "no take")[Math.floor(random() * 4)]!;
        done.add(act);
        delivery[act]();
        expect(delivery.ran).toBe(done.has(starts) ? "unknown" : "no");
      }
    }
  });
});
