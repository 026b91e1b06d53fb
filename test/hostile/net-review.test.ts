import { createKernel } from "@keyhole/kernel";
import { netBroker } from "@keyhole/worker-host/brokers/net";
import { describe, expect, it } from "vitest";
import httpFetch from "../../packages/worker-host/src/tools/http-fetch.ts";

/** What a tool with a grant for `/public` of one host sends when it is asked for this. */
async function ask(url: string, headers: Record<string, string> = {}) {
  const sent: string[] = [];
  const kernel = await createKernel({
    policy: {
      version: "1",
      posture: "standard",
      grants: [{ tool: "http_fetch", capability: { kind: "net.read", hosts: ["example.com"], paths: ["/public"] } }],
    },
    brokers: [
      netBroker({
        async fetch(target) {
          sent.push(target);
          return new Response("");
        },
      }),
    ],
  });
  kernel.register(httpFetch);
  return { result: await kernel.call("http_fetch", { url, headers }), sent };
}

describe("a grant for one path", () => {
  it.each(["x-original-url", "X-Rewrite-URL", "x-original-uri"])(
    "is not led to another by the header %s, which servers take for the path",
    async (name) => {
      const { result, sent } = await ask("https://example.com/public", { [name]: "/admin" });
      expect(result).toMatchObject({ ok: false, error: { code: "CAPABILITY_DENIED" } });
      expect(sent).toEqual([]);
    },
  );

  it.each([
    "/public/..;/admin",
    "/public/..;x=1/admin",
    "/public/%2e.;/admin",
    "/public/..%3b/admin",
    "/public/..%3B/admin",
    "/public/%252e%252e/admin",
    "/public/..%252fadmin",
    "/public/..%255cadmin",
  ])("is not led to another by %s, which some servers read as /admin", async (path) => {
    const { result, sent } = await ask(`https://example.com${path}`);
    expect(result).toMatchObject({ ok: false, error: { code: "CAPABILITY_DENIED" } });
    expect(sent).toEqual([]);
  });

  it.each(["/public", "/public/a;b=1/c", "/public/100%25", "/public/...", "/public/a..;b", "/public/.well-known"])(
    "covers %s",
    async (path) => {
      expect((await ask(`https://example.com${path}`)).sent).toEqual([`https://example.com${path}`]);
    },
  );
});
