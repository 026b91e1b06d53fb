import { describe, expect, it } from "vitest";
import { closeAfterEach } from "../mcp/support.ts";
import { describeBus } from "./contract.ts";
import { NatsServer, natsServerPath } from "./nats-server.ts";
import { calling, serving, until } from "./support.ts";

describe.skipIf(natsServerPath === undefined)("with a real server", () => {
  describeBus("over NATS", async () => {
    const server = await NatsServer.open();
    return { connect: () => server.bus(), saysNobody: true };
  });
});

describe.skipIf(natsServerPath === undefined)("tools over NATS", () => {
  closeAfterEach();

  it("are called, and three kernels share the calls", async () => {
    const server = await NatsServer.open();
    const kernels = [
      await serving(await server.bus()),
      await serving(await server.bus()),
      await serving(await server.bus()),
    ];
    const near = await calling(await server.bus());
    const results = await Promise.all(Array.from({ length: 60 }, (_, amount) => near.call("pay", { amount })));
    expect(results.filter(({ ok }) => !ok)).toEqual([]);
    const counts = kernels.map(({ served }) => served.deeds.length);
    expect(counts.reduce((a, b) => a + b)).toBe(60);
    expect(counts.every((count) => count > 0)).toBe(true);
  });

  it("give the result of a call that ran while the server was away", async () => {
    const server = await NatsServer.open();
    const port = await server.bus();
    const far = await serving(port);
    const near = await calling(await server.bus(), { askMs: 60_000 });
    const result = near.call("wait", {});
    await far.served.waiting.promise;
    await server.kill();
    await until(() => !port.isConnected);
    far.served.gate.resolve();
    await server.start();
    expect(await result).toMatchObject({ ok: true, data: "done" });
    expect(far.served.deeds).toEqual(["wait"]);
  });

  it("say at once that no kernel is there", async () => {
    const server = await NatsServer.open();
    await expect(calling(await server.bus())).rejects.toThrow("No kernel described its tools");
  });
});
