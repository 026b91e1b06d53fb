import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { createKernel, type Kernel } from "@keyhole/kernel";
import { netBroker } from "@keyhole/worker-host/brokers/net";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import httpFetch from "../../packages/worker-host/src/tools/http-fetch.ts";
import { hostileNames } from "./net-names.ts";
import { ordinaryUrls } from "./net-ordinary-urls.ts";
import { hostileUrls } from "./net-urls.ts";

/** Counts what reaches it. */
let canary: Server;
let port: string;
let reached: string[] = [];
/** What passed all checks: also what the canary cannot see, such as other addresses of this machine. */
let sent: string[] = [];
/** Ordinary hosts are not bothered by tests. */
let asksNobody = false;
let kernel: Kernel;

async function open(hosts: readonly string[]): Promise<Kernel> {
  const ports = [80, 443, Number(port)];
  const opened = await createKernel({
    policy: {
      version: "1",
      posture: "standard",
      grants: [{ tool: "http_fetch", capability: { kind: "net.read", hosts, ports } }],
    },
    brokers: [
      netBroker({
        fetch(url, init) {
          sent.push(url);
          return asksNobody ? Promise.resolve(new Response("")) : fetch(url, init);
        },
      }),
    ],
  });
  opened.registerTrusted(httpFetch);
  return opened;
}

beforeAll(async () => {
  canary = createServer((request, response) => {
    reached.push(request.headers.host ?? "");
    response.end("canary");
  }).listen(0, "127.0.0.1");
  await once(canary, "listening");
  port = String((canary.address() as AddressInfo).port);
  kernel = await open(["*"]);
});
afterAll(() => {
  canary.closeAllConnections();
  canary.close();
});
beforeEach(() => {
  reached = [];
  sent = [];
});

const hostile = { ...hostileUrls, ...hostileNames };
const rows = Object.entries(hostile).flatMap(([group, urls]) => urls.map((url) => [group, url] as const));

it("has a table that is large enough and says nothing twice", () => {
  expect(rows.length).toBeGreaterThanOrEqual(380);
  expect(new Set(rows.map(([, url]) => url)).size).toBe(rows.length);
  expect(ordinaryUrls.length).toBeGreaterThanOrEqual(100);
});

describe("the canary", () => {
  it.each(["127.0.0.1", "localhost"])("is reached over %s, granted by exactly this name", async (host) => {
    const granted = await open([host]);
    expect(await granted.call("http_fetch", { url: `http://${host}:${port}/` })).toMatchObject({
      ok: true,
      data: { status: 200, body: "canary" },
    });
    expect(reached).toEqual([`${host}:${port}`]);
  });
});

describe.each(Object.keys(hostile))("%s", (group) => {
  it.each(hostile[group]!)("%j is refused", async (template) => {
    const result = await kernel.call("http_fetch", { url: template.replaceAll("PORT", port) });
    expect(reached).toEqual([]);
    expect(sent).toEqual([]);
    expect(result).toMatchObject({ ok: false });
    if (!result.ok) expect(["CAPABILITY_DENIED", "INVALID_INPUT", "TOOL_ERROR"]).toContain(result.error.code);
  });
});

describe("ordinary URLs", () => {
  beforeAll(() => {
    asksNobody = true;
  });
  afterAll(() => {
    asksNobody = false;
  });
  it.each(ordinaryUrls)("%s passes", async (template) => {
    expect(await kernel.call("http_fetch", { url: template.replaceAll("PORT", port) })).toMatchObject({ ok: true });
    expect(sent).toHaveLength(1);
  });
});
