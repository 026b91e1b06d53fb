import { channelBus, everyCaller, memoryBus, sealedCallers, serveOnBus } from "@keyhole/bus";
import {
  type Capability,
  defineTool,
  type LogEntry,
  type PolicyDocument,
  type Progress,
  type Tool,
} from "@keyhole/kernel";
import { describe, expect, it } from "vitest";
import { FakeClock } from "../support/fake-clock.ts";
import { afterwards, closeAfterEach } from "../mcp/support.ts";
import { calling, kernelWith, key, serving, until } from "./support.ts";

closeAfterEach();

const buses = {
  "in memory": () => {
    const bus = memoryBus();
    return () => bus.connect();
  },
  "over BroadcastChannel": () => {
    const name = crypto.randomUUID();
    return () => {
      const channel = new BroadcastChannel(name);
      afterwards(() => channel.close());
      return channelBus(channel);
    };
  },
};

describe.each(Object.entries(buses))("a tool on a bus %s", (_, open) => {
  it("is called from another kernel, and each output arrives as what it is", async () => {
    const connect = open();
    const { served } = await serving(connect());
    const { call } = await calling(connect());
    expect(await call("pay", { amount: 3 })).toMatchObject({ ok: true, data: { paid: 3 } });
    served.gate.resolve();
    expect(await call("wait", {})).toMatchObject({ ok: true, data: "done" });
    const bytes = await call("bytes", { length: 300 });
    expect(bytes.ok && bytes.data).toEqual(Uint8Array.from({ length: 300 }, (_1, at) => at % 256));
    expect(served.deeds).toEqual(["pay 3", "wait"]);
  });

  it("runs each call once where several kernels share it", async () => {
    const connect = open();
    const kernels = [await serving(connect()), await serving(connect()), await serving(connect())];
    const { call } = await calling(connect());
    const results = await Promise.all(Array.from({ length: 30 }, (_1, amount) => call("pay", { amount })));
    expect(results.every(({ ok }) => ok)).toBe(true);
    const deeds = kernels.flatMap(({ served }) => served.deeds);
    expect(deeds.toSorted()).toEqual(Array.from({ length: 30 }, (_1, at) => `pay ${at}`).toSorted());
  });
});

async function pair() {
  const bus = memoryBus();
  const far = await serving(bus.connect());
  const near = await calling(bus.connect());
  return { bus, far, near };
}

describe("a call over the bus", () => {
  it("reports progress and log lines while it runs", async () => {
    const { far, near } = await pair();
    const [progress, log]: [Progress[], LogEntry[]] = [[], []];
    const done = near.call("wait", {}, { onProgress: (p) => progress.push(p), onLog: (l) => log.push(l) });
    await far.served.waiting.promise;
    await until(() => progress.length === 1);
    far.served.gate.resolve();
    await done;
    expect(progress).toEqual([{ done: 1, total: 2, message: "half" }]);
    expect(log).toEqual([{ level: "info", message: "begun" }]);
  });

  it("is part of the caller's trace", async () => {
    const { far, near } = await pair();
    const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    const result = await near.call("pay", { amount: 1 }, { traceparent });
    const [own] = (await far.kernel.audit.read()).filter(({ type }) => type === "tool.started");
    expect(own?.traceparent?.slice(3, 35)).toBe(traceparent.slice(3, 35));
    expect(own?.traceparent).not.toBe(result.meta.traceparent);
  });

  it("is told to stop when its caller cancels", async () => {
    const { far, near } = await pair();
    const cancel = new AbortController();
    const failure = near.failure("wait", {}, { signal: cancel.signal });
    await far.served.waiting.promise;
    cancel.abort();
    expect((await failure)[0]).toBe("CANCELLED");
    await far.served.told.promise;
  });

  it("ends at its deadline on both sides", async () => {
    const clock = new FakeClock();
    const bus = memoryBus();
    const far = await serving(bus.connect(), { clock });
    const near = await calling(bus.connect(), { clock });
    const failure = near.failure("wait", {});
    await far.served.waiting.promise;
    await clock.advance(60_000);
    expect((await failure)[0]).toBe("TOOL_ERROR");
    await far.served.told.promise;
  });

  it("is decided by the policies of both kernels", async () => {
    const bus = memoryBus();
    const deny = (tool: string, amount: number) => ({
      version: "1" as const,
      posture: "permissive" as const,
      rules: [
        {
          id: "much",
          effect: "deny" as const,
          when: { tool: [tool], arguments: [{ at: "/amount", moreThan: amount }] },
          reason: "Too much.",
        },
      ],
    });
    const far = await serving(bus.connect(), { policy: deny("pay", 10) });
    const near = await calling(bus.connect(), { policy: deny("far_pay", 100) });
    expect((await near.failure("pay", { amount: 101 }))[0]).toBe("POLICY_DENIED");
    const [code, message] = await near.failure("pay", { amount: 11 });
    expect(code).toBe("TOOL_ERROR");
    expect(message).toMatch(/^Nothing ran\. The kernel that serves pay ended the call \(POLICY_DENIED\)/);
    expect(far.served.deeds).toEqual([]);
    expect(await near.call("pay", { amount: 10 })).toMatchObject({ ok: true });
  });

  it("says that nothing ran where no kernel serves the tool any more", async () => {
    const { far, near } = await pair();
    await far.server.close();
    const closed = await near.failure("pay", { amount: 1 }, { bounds: { timeoutMs: 300 } });
    expect(closed[1]).toMatch(/^Nothing ran\./);
  });

  it("with a sealed request is one of the caller to whom the key belongs", async () => {
    const bus = memoryBus();
    const pairs = [
      [{ id: "one", key: key(1) }, { caller: "planner" }],
      [{ id: "two", key: key(2) }, { caller: "shop" }],
    ] as const;
    const far = await serving(bus.connect(), { callers: sealedCallers(pairs) });
    const near = await calling(bus.connect(), { credential: { id: "two", key: key(2) } });
    expect(await near.call("pay", { amount: 1 })).toMatchObject({ ok: true });
    const [requested] = (await far.kernel.audit.read()).filter(({ type }) => type === "call.invoked");
    expect(requested?.payload).toMatchObject({ caller: "shop" });
  });

  it.each([0, 1_048_576, 1_048_577, 3_145_729])(
    "has a result of %d bytes, in messages of a mebibyte",
    async (length) => {
      const { near } = await pair();
      const result = await near.call("bytes", { length });
      const expected = Uint8Array.from({ length }, (_, at) => at % 256);
      expect(result.ok && Buffer.compare(result.data as Uint8Array, expected)).toBe(0);
    },
  );

  it("whose result is larger than the caller takes says that the tool ran", async () => {
    const bus = memoryBus();
    await serving(bus.connect());
    const near = await calling(bus.connect(), { resultBytes: 2_000_000 });
    const [code, message] = await near.failure("bytes", { length: 3_145_728 });
    expect([code, message]).toEqual(["TOOL_ERROR", "The result of bytes is larger than 2000000 bytes."]);
  });
});

describe("the tools of a bus", () => {
  it("come and go with the kernels' own", async () => {
    const { bus, far, near } = await pair();
    expect(near.source.tools.map(({ name, state }) => `${name} ${state}`)).toEqual([
      "far_bytes open",
      "far_pay open",
      "far_wait open",
    ]);
    await far.kernel.unregister("pay@1.0.0");
    await until(() => far.server.tools.length === 2);
    const again = await calling(bus.connect(), { expect: ["wait", "bytes"], name: "again" });
    expect(again.source.tools.map(({ name }) => name)).toEqual(["again_bytes", "again_wait"]);
  });

  it("have at least tier 2, and more where the definition or the program says so", async () => {
    const bus = memoryBus();
    const tool = (name: string, tier: 0 | 3): Tool<never, unknown> =>
      defineTool({
        name,
        version: "1.0.0",
        description: "A tool.",
        tier,
        input: { type: "object" },
        output: { kind: "json" },
        execute: () => 1,
      });
    const served = await kernelWith([tool("low", 0), tool("high", 3), tool("set", 0)]);
    const server = await serveOnBus(served, bus.connect(), { callers: everyCaller({ caller: "bus" }) });
    afterwards(() => server.close());
    const near = await calling(bus.connect(), { expect: ["low", "high", "set"], tiers: { set: 4 } });
    const tiers = near.kernel.list().map(({ manifest }) => [manifest.name, manifest.tier]);
    expect(Object.fromEntries(tiers)).toEqual({ far_low: 2, far_high: 3, far_set: 4 });
  });

  it("are not offered again by a kernel that has them from a bus", async () => {
    const { bus, near } = await pair();
    const server = await serveOnBus(near.kernel, bus.connect(), {
      callers: everyCaller({ caller: "bus" }),
      prefix: "second",
    });
    afterwards(() => server.close());
    expect(server.tools).toEqual([]);
  });

  it("are refused where no kernel answers", async () => {
    const bus = memoryBus();
    await expect(calling(bus.connect())).rejects.toThrow("No kernel described its tools");
  });
});

describe("the access that a source states for the tools of a bus", () => {
  const web = (host: string, more: object = {}): Capability => ({ kind: "net.write", hosts: [host], ...more });
  const stated = {
    effects: ["net.write"],
    capabilities: [web("tools.example.com")],
    needs: [{ kind: "net.write", method: "POST", host: "tools.example.com", port: 443, path: "/" }],
  } as const;
  const granting = (grant: Capability): PolicyDocument => ({
    version: "1",
    posture: "permissive",
    grants: [{ tool: "*", capability: grant }],
  });

  it("is one for each capability", async () => {
    const bus = memoryBus();
    await serving(bus.connect());
    await expect(calling(bus.connect(), { ...stated, needs: [] })).rejects.toThrow("net.write");
  });

  it.each([
    ["a grant of it", web("tools.example.com"), "ok"],
    ["a grant of another host", web("api.example.com"), "CAPABILITY_DENIED"],
    ["a grant of a wildcard", web("*"), "CAPABILITY_DENIED"],
    ["a grant of fewer bytes", web("tools.example.com", { bytes: 5 }), "BOUNDS_EXCEEDED"],
  ])("decides each call: %s", async (_, grant, code) => {
    const bus = memoryBus();
    const { served } = await serving(bus.connect());
    const { failure } = await calling(bus.connect(), { ...stated, policy: granting(grant) });
    expect(await failure("pay", { amount: 3 })).toMatchObject([code, expect.any(String)]);
    expect(served.deeds).toHaveLength(code === "ok" ? 1 : 0);
  });

  it("pays for what a kernel reports", async () => {
    const bus = memoryBus();
    const { served } = await serving(bus.connect());
    const said: string[] = [];
    const onLog = ({ message }: { readonly message: string }): void => void said.push(message);
    // Of the arguments, the log line, and not of the progress behind it.
    const bytes = 2 + '{"level":"info","message":"begun"}'.length + 1;
    const policy = granting(web("tools.example.com", { bytes }));
    const { kernel, call } = await calling(bus.connect(), { ...stated, policy });
    const exceeded = { error: { code: "BOUNDS_EXCEEDED" }, meta: { networkBytes: bytes - 1 } };
    expect(await call("wait", {}, { onLog })).toMatchObject(exceeded);
    expect(said).toEqual(["begun"]);
    await served.told.promise;
    await kernel.setPolicy(granting(web("tools.example.com")));
    expect(await call("pay", { amount: 3 })).toMatchObject({
      ok: true,
      meta: { networkBytes: 12 + '{"paid":3}'.length },
    });
  });
});
