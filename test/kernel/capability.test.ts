import type { Broker, BrokerReply, ToolContext } from "@keyhole/kernel";
import { netRead } from "@keyhole/kernel/families";
import { describe, expect, it } from "vitest";
import { settle } from "../support/fake-clock.ts";
import { expectSoundLog, openKernel, openPolicy, toolOf } from "../support/kernel.ts";
import { net } from "../support/grants.ts";

/** Serves `net.read` from a table and keeps what it was asked. */
function fakeNet(
  respond: (url: string, session: Parameters<Broker["serve"]>[1]) => Promise<BrokerReply> | BrokerReply,
): Broker & { readonly served: string[] } {
  const served: string[] = [];
  return {
    served,
    families: [netRead],
    needs: ({ arguments: { url } }) => {
      const { hostname: host, port, pathname: path } = new URL(String(url));
      const need = { method: "GET", host, isPublic: true, port: Number(port || 443), path };
      return { ok: true, needs: [{ kind: "net.read", ...need }] };
    },
    serve: async ({ arguments: { url } }, session) => {
      served.push(String(url));
      return respond(String(url), session);
    },
  };
}

const page: BrokerReply = {
  ok: true,
  value: { url: "https://example.com/", status: 200, headers: [] },
  body: new TextEncoder().encode("page"),
};
const fetching = toolOf(
  async ({ urls }: { urls: string[] }, context: never) => {
    const { fetch } = context as { fetch: (url: string) => Promise<Response> };
    return Promise.all(urls.map(async (url) => (await fetch(url)).text()));
  },
  { determinism: "external", effects: ["net.read"], capabilities: [{ kind: "net.read", hosts: ["*"] }] },
);
const policy = {
  version: "1",
  posture: "permissive",
  grants: [{ tool: "subject", capability: { kind: "net.read", hosts: ["example.com"] } }],
};

async function bench(broker: Broker, tool = fetching) {
  const opened = await openKernel({ policy, brokers: [broker] });
  expect(opened.kernel.registerTrusted(tool)).toMatchObject({ ok: true });
  return opened;
}

describe("a capability request", () => {
  it("within the grant is served, counted as an effect and journaled without its query", async () => {
    const { kernel, events } = await bench(fakeNet(() => page));
    expect(await kernel.call("subject", { urls: ["https://example.com/a?token=s3cret"] })).toMatchObject({
      ok: true,
      data: ["page"],
      effects: ["net.read"],
    });
    const log = await events();
    expect(log.find(({ type }) => type === "capability.used")).toMatchObject({
      payload: { kind: "net.read", operation: "fetch", target: "GET example.com:443/a", outcome: "ok", index: 0 },
    });
    expect(JSON.stringify(log)).not.toContain("s3cret");
    await expectSoundLog(kernel);
  });

  it("beyond the grant never reaches the broker", async () => {
    const broker = fakeNet(() => page);
    const { kernel, events } = await bench(broker);
    const result = await kernel.call("subject", { urls: ["https://evil.example/"] });
    expect(result).toMatchObject({
      ok: false,
      error: { code: "CAPABILITY_DENIED" },
    });
    expect(broker.served).toEqual([]);
    expect((await events()).find(({ type }) => type === "capability.used")).toMatchObject({
      payload: { outcome: "refused" },
    });
    await expectSoundLog(kernel);
  });

  it("a caller can narrow the grant and not widen it", async () => {
    const { kernel } = await bench(fakeNet(() => page));
    const urls = ["https://example.com/private"];
    expect(await kernel.call("subject", { urls }, { grants: [net({ paths: ["/public"] })] })).toMatchObject({
      error: { code: "CAPABILITY_DENIED" },
    });
    expect(await kernel.call("subject", { urls }, { grants: [] })).toMatchObject({
      error: { code: "CAPABILITY_DENIED" },
    });
    expect(
      await kernel.call("subject", { urls: ["https://other.org/"] }, { grants: [net({ hosts: ["*"] })] }),
    ).toMatchObject({ error: { code: "CAPABILITY_DENIED" } });
    expect(await kernel.call("subject", { urls }, { grants: [{ kind: "net.read" } as never] })).toMatchObject({
      error: { code: "INVALID_INPUT" },
    });
  });

  it("a kind that is not granted at all stops the call before it runs, with a proof", async () => {
    const broker = fakeNet(() => page);
    const { kernel } = await openKernel({ policy: { version: "1", posture: "permissive" }, brokers: [broker] });
    kernel.registerTrusted(fetching);
    const result = await kernel.call("subject", { urls: [] });
    expect(result).toMatchObject({
      ok: false,
      error: { code: "CAPABILITY_DENIED", details: { missing: ["net.read"] } },
      proof: { decision: "deny", reasonCode: "capability-denied" },
    });
    await expectSoundLog(kernel);
  });

  it("within budgets: at the limit and one past it", async () => {
    const broker = fakeNet((_, session) =>
      session.spend({ networkRequests: 1, networkBytes: 4 }) === undefined
        ? page
        : { ok: false, error: session.spend({ networkRequests: 1 })! },
    );
    const { kernel } = await bench(broker);
    const urls = ["https://example.com/1", "https://example.com/2"];
    expect(await kernel.call("subject", { urls }, { bounds: { networkRequests: 2 } })).toMatchObject({
      ok: true,
      meta: { networkRequests: 2, networkBytes: 8 },
    });
    expect(await kernel.call("subject", { urls }, { bounds: { networkRequests: 1 } })).toMatchObject({
      ok: false,
      error: { code: "BOUNDS_EXCEEDED" },
    });
  });

  it("of a tool that handles its refusal does not fail the call", async () => {
    const tolerant = toolOf(
      async (_: unknown, context: never) => {
        const { fetch } = context as { fetch: (url: string) => Promise<unknown> };
        return fetch("https://evil.example/").catch((error: { code: string; hint: string }) => error.code);
      },
      { determinism: "external", effects: ["net.read"], capabilities: [{ kind: "net.read", hosts: ["*"] }] },
    );
    const { kernel } = await bench(
      fakeNet(() => page),
      tolerant,
    );
    expect(await kernel.call("subject", {})).toMatchObject({ ok: true, data: "CAPABILITY_DENIED", effects: [] });
  });

  it("after the end of the call is refused, also when it was in flight", async () => {
    let answer: (reply: BrokerReply) => void = () => {};
    let late: Promise<string> | undefined;
    let closed = false;
    const broker = fakeNet((_, { signal }) => {
      signal.addEventListener("abort", () => (closed = true));
      return new Promise((resolve) => (answer = resolve));
    });
    const leaking = toolOf(
      (_: unknown, context: never) => {
        const { fetch } = context as { fetch: (url: string) => Promise<Response> };
        late = fetch("https://example.com/").then(
          (response) => response.text(),
          (error: { message: string }) => error.message,
        );
        return 1;
      },
      { determinism: "external", effects: ["net.read"], capabilities: [{ kind: "net.read", hosts: ["*"] }] },
    );
    const { kernel } = await bench(broker, leaking);
    expect(await kernel.call("subject", {})).toMatchObject({ ok: true, data: 1 });
    expect(closed).toBe(true);
    answer(page);
    expect(await late).toContain("The call has ended");
    await settle();
  });

  it("to a broker that breaks tells the tool nothing about the host, and is on record", async () => {
    const { kernel, events } = await bench(
      fakeNet(() => {
        throw new Error("/etc/secret-path");
      }),
    );
    const result = await kernel.call("subject", { urls: ["https://example.com/"] });
    expect(result).toMatchObject({ ok: false, error: { code: "TOOL_ERROR" } });
    expect(JSON.stringify(result)).not.toContain("secret-path");
    expect((await events()).find(({ type }) => type === "capability.used")).toMatchObject({
      payload: { target: "GET example.com:443/", outcome: "failed" },
    });
    await expectSoundLog(kernel);
  });

  it("that is refused is why its tool fails, whatever else was under way and ends with it", async () => {
    const capability = { kind: "tool.call", tools: ["inner"] } as const;
    const { kernel } = await openKernel({
      policy: { ...openPolicy, grants: [{ tool: "subject", capability }] },
    });
    const untilCancelled = (_: unknown, { signal }: ToolContext): Promise<null> =>
      new Promise((resolve) => signal.addEventListener("abort", () => resolve(null)));
    kernel.registerTrusted(toolOf(untilCancelled, { name: "inner", determinism: "external" }));
    const callBoth = (_: unknown, { tools }: ToolContext): Promise<unknown> =>
      Promise.all([tools.call("inner"), tools.call("other")]);
    kernel.registerTrusted(toolOf(callBoth, { determinism: "external", capabilities: [capability] }));
    expect(await kernel.call("subject", {})).toMatchObject({
      ok: false,
      error: { code: "CAPABILITY_DENIED" },
    });
    await expectSoundLog(kernel);
  });

  it("floods are bounded", async () => {
    const broker = fakeNet(() => page);
    const { kernel } = await bench(broker);
    const result = await kernel.call("subject", {
      urls: Array.from({ length: 33 }, (_, i) => `https://example.com/${i}`),
    });
    expect(result).toMatchObject({ ok: false, error: { code: "BOUNDS_EXCEEDED" } });
    expect(broker.served.length).toBeLessThanOrEqual(32);
    await expectSoundLog(kernel);
  });
});
