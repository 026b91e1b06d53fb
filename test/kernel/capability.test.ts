import type {
  Broker,
  Capability,
  BrokerReply,
  FilesCapability,
  NetCapability,
  Need,
  ToolContext,
} from "@keyhole/kernel";
import { netRead } from "@keyhole/kernel/families";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { settle } from "../support/fake-clock.ts";
import { expectSoundLog, openKernel, openPolicy, toolOf } from "../support/kernel.ts";
import { sized } from "../support/size.ts";
import { attenuate, covers, grantOf } from "../support/grants.ts";

const net = (more: Partial<NetCapability> = {}): NetCapability => ({
  kind: "net.read",
  hosts: ["example.com"],
  ...more,
});
const files = (more: Partial<FilesCapability> = {}): FilesCapability => ({
  kind: "fs.read",
  paths: ["docs/**"],
  ...more,
});
const wish: readonly Capability[] = [
  net({ hosts: ["*"] }),
  { kind: "net.write", hosts: ["*"] },
  files({ paths: ["**"] }),
  { kind: "fs.write", paths: ["**"] },
];
const get = (more: object = {}): Need => ({
  kind: "net.read",
  method: "GET",
  host: "example.com",
  isPublic: true,
  port: 443,
  path: "/",
  ...more,
});
const read = (path: string, bytes?: number): Need => ({ kind: "fs.read", path, ...(bytes !== undefined && { bytes }) });

describe("a grant", () => {
  it.each<[string, Capability[], Need, boolean]>([
    ["an exact host", [net()], get(), true],
    ["another host", [net()], get({ host: "example.org" }), false],
    ["a host below", [net()], get({ host: "www.example.com" }), false],
    ["a suffix pattern", [net({ hosts: ["*.example.com"] })], get({ host: "www.example.com" }), true],
    ["a suffix pattern, the domain itself", [net({ hosts: ["*.example.com"] })], get(), false],
    ["a suffix without dot", [net({ hosts: ["*.example.com"] })], get({ host: "evilexample.com" }), false],
    ["the default ports", [net()], get({ port: 80 }), true],
    ["another port", [net()], get({ port: 8443 }), false],
    ["a listed port", [net({ ports: [8443] })], get({ port: 8443 }), true],
    ["listed ports replace the default", [net({ ports: [8443] })], get(), false],
    ["HEAD is reading", [net()], get({ method: "HEAD" }), true],
    ["POST is not reading", [net()], get({ method: "POST" }), false],
    ["a path below a prefix", [net({ paths: ["/api"] })], get({ path: "/api/x" }), true],
    ["the prefix itself", [net({ paths: ["/api"] })], get({ path: "/api" }), true],
    ["a path that only begins alike", [net({ paths: ["/api"] })], get({ path: "/apix" }), false],
    ["an encoded slash under a prefix", [net({ paths: ["/api"] })], get({ path: "/api/%2e%2e/x" }), false],
    ["any public host", [net({ hosts: ["*"] })], get(), true],
    ["any public host is not the loopback", [net({ hosts: ["*"] })], get({ host: "127.0.0.1" }), false],
    ["the loopback by name", [net({ hosts: ["127.0.0.1"] })], get({ host: "127.0.0.1" }), true],
    ["a file under a glob", [files()], read("docs/a/b.md"), true],
    ["a file elsewhere", [files()], read("src/a.ts"), false],
    ["an excepted file", [files({ except: ["docs/secret/**"] })], read("docs/secret/a"), false],
    ["a file at the size", [files({ fileBytes: 10 })], read("docs/a", 10), true],
    ["a file one byte over", [files({ fileBytes: 10 })], read("docs/a", 11), false],
    ["writing is not reading", [files()], { kind: "fs.write", path: "docs/a" }, false],
    ["no grant", [], get(), false],
    ["the clock", [{ kind: "clock" }], { kind: "clock" }, false],
  ])("%s", (_, layer, need, expected) => {
    expect(covers(grantOf(wish, [layer]), need)).toBe(expected);
  });

  it("without a layer of authority covers nothing", () => {
    expect(covers(grantOf(wish, []), get())).toBe(false);
  });

  const hosts = fc.subarray(["example.com", "*.example.com", "*", "127.0.0.1", "a.example.com"], { minLength: 1 });
  const globs = fc.subarray(["**", "docs/**", "docs/*", "docs/a", "src/**"], { minLength: 1 });
  const capability = fc.oneof(
    fc.record({
      kind: fc.constantFrom("net.read" as const, "net.write" as const),
      hosts,
      ports: fc.subarray([80, 443, 8080], { minLength: 1 }),
      paths: fc.subarray(["/", "/api", "/api/v1"], { minLength: 1 }),
    }),
    fc.record({
      kind: fc.constantFrom("fs.read" as const, "fs.write" as const),
      paths: globs,
      except: fc.subarray(["docs/a", "src/**"]),
      fileBytes: fc.nat(20),
    }),
  );
  const need: fc.Arbitrary<Need> = fc.oneof(
    fc.record({
      kind: fc.constantFrom("net.read" as const, "net.write" as const),
      method: fc.constantFrom("GET", "POST"),
      host: fc.constantFrom("example.com", "a.example.com", "127.0.0.1", "other.org"),
      port: fc.constantFrom(80, 443, 8080),
      path: fc.constantFrom("/", "/api", "/api/v1/x", "/other"),
    }),
    fc.record({
      kind: fc.constantFrom("fs.read" as const, "fs.write" as const),
      path: fc.constantFrom("docs/a", "docs/b/c", "src/x", "other"),
      bytes: fc.nat(25),
    }),
  );

  it("attenuated covers nothing that its parent does not", () => {
    fc.assert(
      fc.property(
        fc.array(fc.array(capability, { maxLength: 3 }), { minLength: 1, maxLength: 4 }),
        need,
        (layers, asked) => {
          let grant = grantOf(wish, [layers[0]!]);
          for (const layer of layers.slice(1)) {
            const child = attenuate(grant, layer);
            expect(covers(child, asked) && !covers(grant, asked)).toBe(false);
            grant = child;
          }
        },
      ),
      { numRuns: sized(250, 2_000) },
    );
  });
});

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
