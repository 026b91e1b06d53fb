import type { Broker } from "@keyhole/kernel";
import { netRead } from "@keyhole/kernel/families";
import { describe, expect, it } from "vitest";
import { expectSoundLog, openKernel, toolOf } from "../support/kernel.ts";

describe("governance of a tool", () => {
  const governed = (subject: object, more: object = {}) => ({
    version: "1",
    posture: "permissive",
    tools: { subject },
    ...more,
  });

  it("holds its rate, with a code of its own", async () => {
    const { kernel, clock } = await openKernel({ policy: governed({ rate: { calls: 2, windowMs: 60_000 } }) });
    kernel.registerTrusted(toolOf(() => 1));
    const call = () => kernel.call("subject", {});
    expect((await Promise.all([call(), call(), call()])).map(({ ok }) => ok)).toEqual([true, true, false]);
    expect(await call()).toMatchObject({
      error: { code: "RATE_LIMITED", retryable: true, details: { retryAfterMs: 60_000 } },
      proof: { reasonCode: "rate" },
    });
    await clock.advance(60_000);
    expect((await call()).ok).toBe(true);
  });

  it.each([
    [{ modes: { forbidden: ["NORMAL"] } }, "POLICY_DENIED", "tool-mode"],
    [{ modes: { allowed: ["ALERT"] } }, "POLICY_DENIED", "tool-mode"],
    [{ modes: { approval: ["NORMAL"] } }, "APPROVAL_DENIED", "tool-approval"],
    [{ sizes: { inputBytes: 8 } }, "POLICY_DENIED", "tool-size"],
  ])("%j tightens", async (subject, code, reasonCode) => {
    const rules = [{ id: "a", effect: "allow", when: {}, reason: "x" }];
    const { kernel } = await openKernel({ policy: governed(subject, { rules }) });
    kernel.registerTrusted(toolOf(() => 1));
    expect(await kernel.call("subject", { a: "é" })).toMatchObject({ error: { code }, proof: { reasonCode } });
  });

  it("counts input in bytes, exactly", async () => {
    const { kernel } = await openKernel({ policy: governed({ sizes: { inputBytes: 10 } }) });
    kernel.registerTrusted(toolOf(() => 1));
    expect((await kernel.call("subject", { a: "é" })).ok).toBe(true); // {"a":"é"} is 10 bytes
    expect((await kernel.call("subject", { a: "éx" })).ok).toBe(false);
  });

  it("lowers bounds and never raises them", async () => {
    const { kernel } = await openKernel({ policy: governed({ bounds: { outputBytes: 4, timeoutMs: 900_000 } }) });
    kernel.registerTrusted(toolOf(({ text }) => text, { bounds: { timeoutMs: 50 } }));
    expect(await kernel.call("subject", { text: "ab" })).toMatchObject({ ok: true });
    expect(await kernel.call("subject", { text: "abc" })).toMatchObject({ error: { code: "BOUNDS_EXCEEDED" } });
  });
});

describe("rules about requests", () => {
  const broker: Broker = {
    families: [netRead],
    needs: ({ arguments: { url } }) => {
      const { hostname: host, pathname: path } = new URL(String(url));
      return { ok: true, needs: [{ kind: "net.read", method: "GET", host, isPublic: true, port: 443, path }] };
    },
    serve: async ({ arguments: { url } }, session) => {
      const refused = session.refusal({
        kind: "net.read",
        method: "GET",
        isPublic: true,
        host: String(url).includes("redirect") ? "evil.example.com" : "example.com",
        port: 443,
        path: "/",
      });
      return refused
        ? { ok: false, error: refused }
        : { ok: true, value: { status: 200, headers: [], url: String(url) }, body: new Uint8Array() };
    },
  };
  const fetcher = () =>
    toolOf(async ({ url }: never, context: never) => (await (context as { fetch: typeof fetch }).fetch(url)).status, {
      determinism: "external",
      effects: ["net.read"],
      capabilities: [{ kind: "net.read", hosts: ["*"] }],
    });
  const open = async (part: object) => {
    const bench = await openKernel({
      policy: {
        version: "1",
        posture: "permissive",
        grants: [{ tool: "*", capability: { kind: "net.read", hosts: ["*"] } }],
        ...part,
      },
      brokers: [broker],
    });
    bench.kernel.registerTrusted(fetcher());
    return bench;
  };
  const rule = (when: object) => ({ rules: [{ id: "no", effect: "deny", when, reason: "Not there." }] });
  const denied = { ok: false, error: { code: "CAPABILITY_DENIED" } };

  it.each<[string, object, string, boolean]>([
    ["a host", rule({ host: ["*.example.com"] }), "https://evil.example.com/", false],
    ["another host", rule({ host: ["*.example.com"] }), "https://example.org/", true],
    ["a path", rule({ host: ["example.com"], path: ["/admin"] }), "https://example.com/admin/x", false],
    ["another path", rule({ host: ["example.com"], path: ["/admin"] }), "https://example.com/administer", true],
    ["a method", rule({ method: ["GET"] }), "https://example.com/", false],
    ["another kind", rule({ method: ["GET"], capability: ["net.write"] }), "https://example.com/", true],
    ["another tool", rule({ method: ["GET"], tool: ["other"] }), "https://example.com/", true],
    ["a redirect", rule({ host: ["evil.example.com"] }), "https://example.com/redirect", false],
    [
      "a condition that errs",
      rule({ method: ["GET"], arguments: [{ at: "/url", moreThan: 1 }] }),
      "https://example.com/",
      false,
    ],
    [
      "a forbidden host",
      { tools: { subject: { hosts: { forbidden: ["evil.example.com"] } } } },
      "https://evil.example.com/",
      false,
    ],
    ["no allowed host", { tools: { subject: { hosts: { allowed: ["example.org"] } } } }, "https://example.com/", false],
    ["an allowed host", { tools: { subject: { hosts: { allowed: ["example.com"] } } } }, "https://example.com/", true],
  ])("%s", async (_, part, url, expected) => {
    const { kernel } = await open(part);
    const result = await kernel.call("subject", { url });
    if (expected) expect(result).toMatchObject({ ok: true });
    else expect(result).toMatchObject(denied);
    await expectSoundLog(kernel);
  });

  it("where the policy observes only warn", async () => {
    const { kernel } = await open({ ...rule({ host: ["example.com"] }), enforcement: "observe" });
    expect(await kernel.call("subject", { url: "https://example.com/" })).toMatchObject({
      ok: true,
      meta: { warnings: expect.arrayContaining(["Not enforced: Not there. (Rule no.)"]) },
    });
  });
});
