import { brotliCompressSync, gzipSync } from "node:zlib";
import { type Capability, createKernel, defineTool, type Kernel } from "@keyhole/kernel";
import { secretKeeper } from "@keyhole/kernel/secrets";
import { netBroker } from "@keyhole/worker-host/brokers/net";
import { environmentSecrets } from "@keyhole/worker-host/node";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { origin, portOf, requests, routes, server, useServers } from "./net-server.ts";

useServers();

const value = 'canary-7f3a "quoted" /+&=';
const names: readonly string[] = ["127.0.0.1", "localhost", "example.org"];
const everywhere = (): readonly Capability[] => [
  { kind: "net.read", hosts: names, ports: [portOf(server), 80, 443], headers: ["x-key"] },
  { kind: "net.write", hosts: names, ports: [portOf(server), 80, 443] },
  { kind: "secret.use", names: ["key"], hosts: ["127.0.0.1", "example.org"] },
];

/** Sends its placeholder where it is told to, and gives back all that it hears. */
const sender = defineTool({
  name: "sender",
  version: "1.0.0",
  description: "Sends a secret.",
  effects: ["net.read", "net.write"],
  determinism: "external",
  capabilities: [
    { kind: "net.read", hosts: ["*"] },
    { kind: "net.write", hosts: ["*"] },
    { kind: "secret.use", names: ["*"], hosts: ["*"] },
  ],
  input: {
    type: "object",
    properties: { url: { type: "string" }, where: { type: "string" } },
    required: ["url", "where"],
  },
  output: { kind: "text" },
  async execute({ url, where }, { fetch, secret, log }) {
    const stand = secret("key");
    log(stand);
    const init = {
      header: { headers: { "x-key": `Bearer ${stand}` } },
      query: {},
      json: { method: "POST", body: JSON.stringify({ key: stand }), headers: { "content-type": "application/json" } },
      form: { method: "POST", body: `key=${stand}`, headers: { "content-type": "application/x-www-form-urlencoded" } },
      text: { method: "POST", body: stand },
    }[where];
    const response = await fetch(where === "query" ? `${url}?key=${stand}` : url, init as never);
    return `${response.url} ${JSON.stringify([...response.headers])} ${await response.text()}`;
  },
});

let kernel: Kernel;
let heard: string[];
beforeEach(async () => {
  heard = [];
  kernel = await createKernel({
    brokers: [netBroker()],
    secrets: secretKeeper(environmentSecrets({ env: { KEYHOLE_SECRET_KEY: value } })),
    policy: {
      version: "1",
      posture: "permissive",
      grants: everywhere().map((capability) => ({ tool: "*", capability })),
    },
  });
  kernel.registerTrusted(sender);
  routes.set("/echo", (request, response, body) =>
    response
      .writeHead(200, { "x-echo": encodeURIComponent(String(request.headers["x-key"])) })
      .end(`${request.url} ${String(request.headers["x-key"])} ${body}`),
  );
});
afterEach(() => kernel.close());

const send = async (url: string, where: string) => {
  const result = await kernel.call("sender", { url, where }, { onLog: ({ message }) => heard.push(message) });
  return { result, shown: `${JSON.stringify(result)}${heard.join("")}${JSON.stringify(await kernel.audit.read())}` };
};
/** Every spelling in which this value could be seen. */
const spellings = [
  value,
  encodeURIComponent(value),
  JSON.stringify(value).slice(1, -1),
  "canary-7f3a",
  Buffer.from(value).toString("base64"),
];

describe("a secret", () => {
  it.each([
    ["header", () => requests[0]?.headers["x-key"], `Bearer ${value}`],
    ["json", () => (JSON.parse(requests[0]?.body ?? "{}") as { key: string }).key, value],
    ["form", () => new URLSearchParams(requests[0]?.body).get("key"), value],
    ["text", () => requests[0]?.body, value],
  ] as const)(
    "arrives in the %s, and is seen nowhere else, also when the server gives it back",
    async (where, arrived, expected) => {
      const { result, shown } = await send(`${origin}/echo`, where);
      expect(result).toMatchObject({ ok: true });
      expect(arrived()).toBe(expected);
      for (const spelling of spellings) expect(shown).not.toContain(spelling);
    },
  );

  it.each([
    ["gzip", true],
    ["br", true],
    ...["GZIP", "x-gzip", "deflate", "zstd", "identity", "foo", "gzip, gzip", "identity, gzip", "gzip;q=1", ""].map(
      (each) => [each, false] as const,
    ),
  ] as const)("in an answer with the coding %o reaches the tool on no host", async (coding, isRead) => {
    routes.set("/coded", ({ headers }, response) => {
      const body = (coding === "br" ? brotliCompressSync : gzipSync)(String(headers["x-key"]));
      response.writeHead(200, { "content-encoding": coding }).end(body);
    });
    const { result, shown } = await send(`${origin}/coded`, "header");
    expect(requests[0]?.headers["accept-encoding"]).toBe("gzip, br");
    if (isRead)
      expect(result).toMatchObject({ ok: true, data: expect.stringContaining("Bearer keyhole-secret.") as string });
    else
      expect(result).toMatchObject({
        error: { code: "CAPABILITY_DENIED", message: expect.stringContaining("encoded its answer") as string },
      });
    for (const spelling of spellings) expect(shown).not.toContain(spelling);
  });

  it("arrives in the query", async () => {
    let arrived: string | null = null;
    routes.set("/query", (request, response) => {
      arrived = new URL(request.url!, origin).searchParams.get("key");
      response.end(request.url);
    });
    const { result, shown } = await send(`${origin}/query`, "query");
    expect(result).toMatchObject({ ok: true });
    expect(arrived).toBe(value);
    for (const spelling of spellings) expect(shown).not.toContain(spelling);
  });

  it("does not follow a redirect to a host that may not see it", async () => {
    const location = `http://localhost:${portOf(server)}/echo`;
    routes.set("/away", (_, response) => response.writeHead(307, { location }).end());
    const { result } = await send(`${origin}/away`, "text");
    expect(result).toMatchObject({ ok: false, error: { code: "CAPABILITY_DENIED" } });
    expect(requests.map(({ path }) => path)).toEqual(["/away"]);
  });

  it("in a header does not follow a redirect to another origin at all", async () => {
    const location = `http://localhost:${portOf(server)}/echo`;
    routes.set("/away", (_, response) => response.writeHead(302, { location }).end());
    expect((await send(`${origin}/away`, "header")).result).toMatchObject({ ok: true });
    expect(requests.map(({ path, headers }) => [path, headers["x-key"]])).toEqual([
      ["/away", `Bearer ${value}`],
      ["/echo", undefined],
    ]);
  });

  it("is not carried on in the address of a redirect", async () => {
    routes.set("/leak", (request, response) =>
      response.writeHead(302, { location: `http://localhost:${portOf(server)}/echo${request.url!.slice(5)}` }).end(),
    );
    const { result, shown } = await send(`${origin}/leak`, "query");
    expect(result).toMatchObject({ ok: false, error: { code: "CAPABILITY_DENIED" } });
    expect(requests.map(({ path }) => path)).toEqual(["/leak"]);
    for (const spelling of spellings) expect(shown).not.toContain(spelling);
  });

  it("is sent anew with a redirect to a host that may see it", async () => {
    routes.set("/here", (_, response) => response.writeHead(307, { location: "/echo" }).end());
    const { result } = await send(`${origin}/here`, "json");
    expect(result).toMatchObject({ ok: true });
    expect(requests.map(({ body }) => (JSON.parse(body) as { key: string }).key)).toEqual([value, value]);
  });

  it("goes to another machine over https only", async () => {
    const { result } = await send("http://example.org/echo", "header");
    expect(result).toMatchObject({
      ok: false,
      error: { code: "CAPABILITY_DENIED", message: expect.stringContaining("https") as string },
    });
  });

  it("goes nowhere without a grant", async () => {
    const grants = everywhere().filter(({ kind }) => kind !== "secret.use");
    const result = await kernel.call("sender", { url: `${origin}/echo`, where: "header" }, { grants });
    expect(result).toMatchObject({ ok: false, error: { code: "CAPABILITY_DENIED" } });
    expect(requests).toEqual([]);
  });

  it("that no header carries is refused, and not sent in part", async () => {
    const other = await createKernel({
      brokers: [netBroker()],
      secrets: secretKeeper({ get: () => "line one\r\nx-injected: yes" }),
      policy: {
        version: "1",
        posture: "permissive",
        grants: everywhere().map((capability) => ({ tool: "*", capability })),
      },
    });
    other.registerTrusted(sender);
    expect(await other.call("sender", { url: `${origin}/echo`, where: "header" })).toMatchObject({ ok: false });
    expect(requests).toEqual([]);
    await other.close();
  });
});

it("the canary would be seen: it is in what the server got", async () => {
  await send(`${origin}/echo`, "text");
  expect(JSON.stringify(requests)).toContain("canary-7f3a");
});
