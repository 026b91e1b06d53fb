import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { type CallResult, hashBytes, terminalTypes, verifyChain } from "@keyhole/kernel";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { endlessDeck } from "../hostile/chaos/faults.ts";
import { randomFrom } from "../support/random.ts";
import { sized } from "../support/size.ts";
import { startTestEdge, type TestEdge } from "./edge/service.ts";

let service: TestEdge;
let site: Server;
let siteUrl: string;
/** Paths that reached the local server. */
const visits: string[] = [];

beforeAll(async () => {
  site = createServer((request, response) => {
    visits.push(request.url ?? "");
    if (request.url === "/away") return response.writeHead(302, { location: "http://localhost:1/" }).end();
    return response.writeHead(200, { "content-type": "text/plain" }).end("from the local server");
  });
  await new Promise((resolve) => site.listen(0, "127.0.0.1", () => resolve(undefined)));
  const { port } = site.address() as AddressInfo;
  siteUrl = `http://127.0.0.1:${port}`;
  const local = { kind: "net.read", hosts: ["127.0.0.1"], ports: [port] } as const;
  service = await startTestEdge({
    version: "1",
    posture: "standard",
    grants: [
      { tool: "http_fetch", capability: local },
      { tool: "deed", capability: local },
      { tool: "write_file", capability: { kind: "fs.write", paths: ["workspace/**"] } },
      { tool: "read_file", capability: { kind: "fs.read", paths: ["workspace/**"] } },
      { tool: "list_directory", capability: { kind: "fs.read", paths: ["workspace", "workspace/**"] } },
    ],
    rules: [{ id: "tests-write", effect: "allow", when: { tool: ["write_file"] }, reason: "The tests write files." }],
  });
});

afterAll(async () => {
  await service?.stop();
  await new Promise((resolve) => site.close(resolve));
});

/** Most deeds have long to go. */
const soon = { bounds: { timeoutMs: 1_000 } };
/** Where the deadline is not the subject: a slow machine needs more than a tool's usual one to start the sandbox again. */
const patient = { bounds: { timeoutMs: 240_000 } };

const codeOf = (result: CallResult): string => (result.ok ? "OK" : result.error.code);

describe("the edge", () => {
  it("is healthy, and says so to anybody", async () => {
    const response = await fetch(`${service.edge.url}/healthz`);
    expect(await response.json()).toEqual({ status: "ok" });
  });

  it("lists the tools to whom it knows, and to nobody else", async () => {
    const { tools } = (await (await service.send("/v1/tools")).json()) as {
      readonly tools: readonly { readonly id: string }[];
    };
    expect(tools.map(({ id }) => id)).toEqual(
      expect.arrayContaining(["calculator@1.0.0", "echo@1.0.0", "http_fetch@1.0.0"]),
    );
    expect((await fetch(`${service.edge.url}/v1/tools`)).status).toBe(401);
  });

  it("calls a tool in a dynamic Worker", async () => {
    const { status, result } = await service.call("calculator", { expression: "2 * (3 + 4)" });
    expect(status).toBe(200);
    expect(result).toMatchObject({ ok: true, data: { value: 14 } });
  });

  it("fetches from the host that the policy names, and from no other", async () => {
    const { result } = await service.call("http_fetch", { url: `${siteUrl}/page` });
    expect(result).toMatchObject({
      ok: true,
      data: { status: 200, body: "from the local server" },
      effects: ["net.read"],
    });
    expect(visits).toContain("/page");

    const refused = await service.call("http_fetch", { url: "http://example.com/" });
    expect(refused.status).toBe(403);
    expect(codeOf(refused.result)).toBe("CAPABILITY_DENIED");
    expect(refused.result.ok || refused.result.error.message).toMatch(/example\.com/);
  });

  it("follows no redirect out of the grant", async () => {
    const { result } = await service.call("http_fetch", { url: `${siteUrl}/away` });
    expect(codeOf(result)).toBe("CAPABILITY_DENIED");
  });

  it("keeps files in its bucket, below the granted folder", async () => {
    expect(await service.call("write_file", { path: "workspace/a.txt", content: "kept" })).toMatchObject({
      result: { ok: true },
    });
    expect(await service.call("read_file", { path: "workspace/a.txt" })).toMatchObject({
      result: { ok: true, data: { content: "kept" } },
    });
    expect(await service.call("read_file", { path: "elsewhere.txt" })).toMatchObject({ status: 403 });
  });

  it("keeps a session's isolate, and no other's", async () => {
    expect(await service.call("deed", { deed: "count" }, { sessionId: "one" })).toMatchObject({ result: { data: 1 } });
    expect(await service.call("deed", { deed: "count" }, { sessionId: "one" })).toMatchObject({ result: { data: 2 } });
    expect(await service.call("deed", { deed: "count" }, { sessionId: "two" })).toMatchObject({ result: { data: 1 } });
    expect(await service.call("deed", { deed: "count" })).toMatchObject({ result: { data: 1 } });
  });

  it("lets bytes flow through a tool and back at the same time", async () => {
    const bytes = new Uint8Array(3_000_000).map((_, i) => (i * 7) & 255);
    const answering = await service.send("/v1/tools/drink/calls", {
      method: "POST",
      body: bytes,
      headers: {
        accept: "application/octet-stream",
        "content-type": "application/octet-stream",
        "keyhole-call": `:${btoa(JSON.stringify({ input: { deed: "echo" } }))}:`,
      },
    });
    expect(answering.status).toBe(200);
    const bodyHash = hashBytes(bytes);
    expect(hashBytes(new Uint8Array(await answering.arrayBuffer()))).toBe(bodyHash);
    expect((await service.events()).find(({ type }) => type === "body.read")).toMatchObject({
      callId: answering.headers.get("keyhole-call-id"),
      payload: { bodyHash, bodyBytes: 3_000_000, whole: true },
    });
  });

  it("answers a client that has megabytes to send for nothing", async () => {
    const bytes = new Uint8Array(5_000_000);
    const send = (path: string, headers: Record<string, string>): Promise<Response> =>
      service.send(path, {
        method: "POST",
        headers: { "content-type": "application/octet-stream", ...headers },
        body: bytes,
      });
    for (let i = 0; i < sized(1, 5); i++) {
      expect((await send("/v1/tools/echo/calls", { "keyhole-call": "nope" })).status).toBe(400);
      expect((await send("/v1/tools/echo/calls", {})).status).toBe(422);
      expect((await send("/v1/tools/echo/calls", { authorization: "Bearer nobody" })).status).toBe(401);
      expect((await send("/elsewhere", {})).status).toBe(404);
    }
  });

  it("says how a tool is", async () => {
    const response = await service.post("/v1/tools/deed/health", {});
    expect([response.status, await response.json()]).toEqual([200, { state: "healthy" }]);
  });

  it("streams what happens", async () => {
    const response = await service.post(
      "/v1/tools/deed/calls",
      { input: { deed: "log" } },
      { accept: "text/event-stream" },
    );
    const names = [...(await response.text()).matchAll(/^event: (.*)$/gm)].map(([, name]) => name);
    expect(names.filter((name) => name !== "audit")).toEqual(["log", "progress", "result"]);
    expect(names.filter((name) => name === "audit").length).toBeGreaterThan(3);
  });

  it("asks, and runs what was approved", async () => {
    const pending = service.call("asking", { amount: 42 });
    let approvals: { approvalId: string; input: unknown }[] = [];
    while (approvals.length === 0)
      ({ approvals } = (await (await service.send("/v1/approvals")).json()) as { approvals: typeof approvals });
    expect(approvals).toMatchObject([{ input: { amount: 42 } }]);
    const answered = await service.post(`/v1/approvals/${approvals[0]!.approvalId}`, { answer: "allow" });
    expect(answered.status).toBe(204);
    expect((await pending).result).toMatchObject({ ok: true, data: 42, proof: { approval: { approver: "tester" } } });
  });

  it("cancels a call whose client goes away", async () => {
    const client = new AbortController();
    const sent = service.send("/v1/tools/deed/calls", {
      method: "POST",
      body: JSON.stringify({ input: { deed: "hang" } }),
      headers: { "content-type": "application/json", accept: "text/event-stream" },
      signal: client.signal,
    });
    const reader = (await sent).body!.pipeThrough(new TextDecoderStream()).getReader();
    let text = "";
    while (!text.includes("tool.started")) text += (await reader.read()).value ?? "";
    const callId = /"callId":"([^"]+)"/.exec(text)![1];
    client.abort();
    await expect
      .poll(async () =>
        (await service.events()).find((event) => event.callId === callId && event.type === "tool.failed"),
      )
      .toMatchObject({ payload: { code: "CANCELLED" } });
  });
});

describe("a tool that spins", () => {
  it("is answered at its deadline, the next tool is served, and its sandbox is ended", async () => {
    const kills = service.edge.sandboxKills;
    expect(await service.call("deed", { deed: "spin" }, soon)).toMatchObject({
      status: 504,
      result: { error: { code: "TIMEOUT" } },
    });
    expect(await service.call("echo", { message: "after" })).toMatchObject({ status: 200 });
    await expect.poll(() => service.edge.sandboxKills).toBe(kills + 1);
  });

  it("runs once: neither wrangler nor the kernel sends its call again", async () => {
    // The deadline is for the tool: a sandbox that was ended has to be there again.
    expect(await service.call("deed", { deed: "count" }, patient)).toMatchObject({ status: 200 });
    const { result } = await service.call("deed", { deed: "fetch and spin", url: `${siteUrl}/once` }, soon);
    expect(codeOf(result)).toBe("TIMEOUT");
    expect(await service.call("echo", { message: "after" })).toMatchObject({ status: 200 });
    expect(visits.filter((path) => path === "/once")).toHaveLength(1);
  });

  it("does not take the calls with it that wait for the sandbox", async () => {
    const spinning = service.call("deed", { deed: "spin" }, soon);
    const others = Array.from({ length: 4 }, () => service.call("deed", { deed: "count" }, patient));
    expect(codeOf((await spinning).result)).toBe("TIMEOUT");
    expect((await Promise.all(others)).map(({ result }) => codeOf(result))).toEqual(["OK", "OK", "OK", "OK"]);
  });
});

it("whatever goes wrong at the same time, each call ends as it may, and the next one is served", async () => {
  const draw = randomFrom(20_261_121);
  const faults = [
    { deed: "spin", timeoutMs: 400, ends: ["TIMEOUT"] },
    { deed: "hang", timeoutMs: 300, ends: ["TIMEOUT"] },
    // One that runs while the sandbox dies has said nothing yet and runs again, once.
    { deed: "count", timeoutMs: 30_000, ends: ["OK", "ISOLATE_LOST"] },
    { deed: "log", timeoutMs: 30_000, ends: ["OK", "ISOLATE_LOST"] },
    { deed: "no such deed", timeoutMs: 30_000, ends: ["INVALID_INPUT"] },
  ];
  const deal = endlessDeck(faults, draw);
  const wrong: string[] = [];
  const inSession = async (_: unknown, session: number): Promise<void> => {
    for (let round = 0; round < sized(2, 5); round++) {
      const { deed, timeoutMs, ends } = deal();
      const options = { sessionId: `chaos ${session}`, bounds: { timeoutMs } };
      const end = codeOf((await service.call("deed", { deed }, options)).result);
      if (!ends.includes(end)) wrong.push(`${deed}: ${end}`);
    }
  };
  await Promise.all(Array.from({ length: 3 }, inSession));
  expect(wrong).toEqual([]);
  expect(await service.call("echo", { message: "after" })).toMatchObject({ status: 200 });
});

// Last: it looks at everything that the other tests did.
it("has one chain with one end for every call", async () => {
  const events = await service.events();
  expect(verifyChain(events)).toMatchObject({ ok: true });
  const ends = new Map<string, number>();
  for (const { callId, type } of events) {
    if (callId === null) continue;
    ends.set(callId, (ends.get(callId) ?? 0) + (terminalTypes.includes(type) ? 1 : 0));
  }
  expect(ends.size).toBeGreaterThan(20);
  expect([...ends.values()].every((count) => count === 1)).toBe(true);
  const fetched = events.filter(({ type }) => type === "capability.used");
  expect(fetched.map(({ payload }) => payload)).toEqual(
    expect.arrayContaining([expect.objectContaining({ outcome: "refused" })]),
  );
});
