import { natsBus, sealedCallers } from "@keyhole/bus";
import { describe, expect, it } from "vitest";
import { closeAfterEach } from "../mcp/support.ts";
import { FakeClock } from "../support/fake-clock.ts";
import { collector } from "./contract.ts";
import { RawClient } from "./nats-raw.ts";
import { NatsServer, natsServerPath } from "./nats-server.ts";
import { calling, key, serving, until } from "./support.ts";

const credential = { id: "shop", key: key(1) };
const callers = sealedCallers([[credential, { caller: "shop" }]]);

describe.skipIf(natsServerPath === undefined)("a client of NATS without a key", () => {
  closeAfterEach();

  it("ends the reading of no kernel and of no source with headers that cannot be read", async () => {
    const server = await NatsServer.open();
    const [far, near] = [
      await serving(await server.bus(), { callers }),
      await calling(await server.bus(), { credential }),
    ];
    const raw = await RawClient.open(server.url);
    const long = Array.from({ length: 4_000 }, (_, at) => `${at}:`).join("\r\n");
    const heads = ["(bad) name: x", "b\xe4d: x", "\x00: x", long].map((lines) => `NATS/1.0\r\n${lines}`);
    for (const head of heads)
      for (const subject of ["keyhole.tool.x.describe", "keyhole.tool._.announce"]) raw.publish(subject, head);
    await until(() => far.errors.length >= heads.length && near.errors.length >= heads.length);
    const words = /^A message on the bus cannot be read: .+ It was dropped\.$/;
    for (const error of [...far.errors, ...near.errors]) expect(error).toMatch(words);
    expect(await near.call("pay", { amount: 1 })).toMatchObject({ ok: true });
  });

  it("makes no call that runs end as one that did not run", async () => {
    const server = await NatsServer.open();
    const far = await serving(await server.bus(), { callers });
    const near = await calling(await server.bus(), { credential });
    const overhearing = collector();
    const listener = await server.bus();
    listener.subscribe("keyhole.tool.wait.request", overhearing.listener);
    await listener.flush();
    const call = near.failure("wait", {});
    await far.served.waiting.promise;
    await overhearing.until(1);
    const raw = await RawClient.open(server.url);
    for (let at = 0; at < 9; at++) raw.publish(overhearing.messages[0]!.reply!, "NATS/1.0 503");
    // An answer that nobody sealed is reported: it comes behind the others.
    raw.publish(overhearing.messages[0]!.reply!, "NATS/1.0");
    await until(() => near.errors.length > 0);
    far.served.gate.resolve();
    expect(await call).toEqual(["ok", ""]);
  });
});

describe("a subscription that the server ends", () => {
  it("is reported, and made again until it is stopped", async () => {
    const clock = new FakeClock();
    const callbacks: ((error: Error | null, message: never) => void)[] = [];
    let stopped = 0;
    const bus = natsBus(
      {
        publish: () => {},
        subscribe: (_, { callback }) => {
          callbacks.push(callback);
          return { unsubscribe: () => void stopped++ };
        },
        flush: async () => {},
        async *status() {},
        closed: async () => new Error("The server is gone."),
      },
      () => {
        throw new Error("Nothing is published.");
      },
      { clock },
    );
    const faults: string[] = [];
    bus.onFault(({ message }) => faults.push(message));
    await until(() => faults.length === 1);
    const stop = bus.subscribe("a", () => {});
    for (const count of [2, 3]) {
      callbacks.at(-1)!(new Error("Permissions Violation"), undefined as never);
      expect(callbacks).toHaveLength(count - 1);
      await clock.advance(5_000);
      expect(callbacks).toHaveLength(count);
    }
    callbacks.at(-1)!(new Error("Permissions Violation"), undefined as never);
    stop();
    await clock.advance(5_000);
    expect([callbacks.length, stopped]).toEqual([3, 1]);
    const ended = "The server ended the subscription to a. The next try is in 5000 ms. Permissions Violation";
    expect(faults).toEqual(["The connection to NATS has ended: The server is gone.", ended, ended, ended]);
  });
});
