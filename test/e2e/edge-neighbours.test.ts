import { afterAll, beforeAll, expect, it } from "vitest";
import { startTestEdge, type TestEdge } from "./edge/service.ts";
import { killed } from "./serve-recovery.ts";

/* Tenants that share one edge: what the tools of one do is no matter of another. */

let service: TestEdge;
beforeAll(async () => {
  service = await startTestEdge({
    version: "1",
    posture: "standard",
    grants: [{ tool: "kv_get", capability: { kind: "kv.read", keys: ["workspace/"] } }],
  });
});
afterAll(() => service?.stop());

const started = async (): Promise<number> =>
  (await service.events()).filter(({ type }) => type === "tool.started").length;
const neighbour = { authorization: "Bearer neighbours-token" };
const echo = (headers = {}): Promise<Response> =>
  service.post("/v1/tools/echo/calls", { input: { message: "hello" }, sessionId: crypto.randomUUID() }, headers);

it("calls of one tenant that do not end keep no other one from its isolates", async () => {
  const client = new AbortController();
  // More than a caller's share: half of the tool's 16 slots.
  const hanging = Array.from({ length: 12 }, (_, i) =>
    service
      .send("/v1/tools/deed/calls", {
        method: "POST",
        body: JSON.stringify({ input: { deed: "hang" }, sessionId: `${i}` }),
        headers: { "content-type": "application/json", accept: "text/event-stream" },
        signal: client.signal,
      })
      .then((response) => response.text())
      .catch(() => ""),
  );
  await expect.poll(() => started()).toBe(8);
  for (let i = 0; i < 3; i++) expect((await echo(neighbour)).status).toBe(200);
  client.abort();
  await Promise.all(hanging);
});

/** A call that has sent something: such a one is not run again. Resolves then, with its end to come. */
async function heard(sessionId: string): Promise<{ readonly result: Promise<string> }> {
  const input = { deed: "log and hang" };
  const response = await service.post("/v1/tools/deed/calls", { input, sessionId }, { accept: "text/event-stream" });
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  const until = async (event: string): Promise<string> => {
    while (!text.includes(`event: ${event}\n`)) {
      const { value, done } = await reader.read();
      if (done) return text;
      text += value;
    }
    return text;
  };
  await until("log");
  return { result: until("result") };
}

it("a sandbox that dies under calls, again and again, counts against none of their tools", async () => {
  for (let round = 0; round < 4; round++) {
    const going = await Promise.all(["a", "b"].map((name) => heard(`${name} ${round}`)));
    await killed(service, "sandbox");
    for (const { result } of going) expect(await result).toContain("ISOLATE_LOST");
    await expect.poll(async () => (await echo()).status).toBe(200);
  }
  expect((await service.events()).filter(({ type }) => type === "tool.quarantined")).toEqual([]);
  expect((await service.call("deed", { deed: "count" })).result).toMatchObject({ ok: true });
});

it("a tool that spins holds up no other tenant, nor another session of its own", async () => {
  const client = new AbortController();
  let ended = false;
  const spinning = service
    .send("/v1/tools/deed/calls", {
      method: "POST",
      body: JSON.stringify({ input: { deed: "spin" }, sessionId: "spins", bounds: { timeoutMs: 120_000 } }),
      headers: { "content-type": "application/json" },
      signal: client.signal,
    })
    .then((response) => response.text())
    .catch(() => "")
    .finally(() => (ended = true));
  await expect.poll(async () => (await service.events()).at(-1)?.type).toBe("tool.started");
  for (let i = 0; i < 3; i++) expect((await echo(neighbour)).status).toBe(200);
  expect((await echo()).status).toBe(200);
  expect(ended).toBe(false);
  client.abort();
  await spinning;
});
