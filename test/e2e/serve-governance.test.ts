import { afterAll, beforeAll, expect, it } from "vitest";
import { type OwnEdge, startOwnEdge } from "./own-edge.ts";
import { killed, untilServing } from "./serve-recovery.ts";

const hourMs = 3_600_000;
const policy = {
  version: "1",
  posture: "permissive",
  grants: [
    { tool: "kv_get", capability: { kind: "kv.read", keys: ["workspace/"] } },
    { tool: "kv_put", capability: { kind: "kv.write", keys: ["workspace/"] } },
  ],
  labels: { secret: { tools: ["hash"] } },
  rules: [
    {
      id: "no-leak",
      effect: "deny",
      when: { tool: ["echo"], labels: ["secret"] },
      reason: "The session has seen secrets.",
    },
    {
      id: "three",
      effect: "deny",
      when: { tool: ["calculator"], count: { windowMs: hourMs, moreThan: 3 } },
      reason: "Three an hour.",
    },
  ],
};

let own: OwnEdge;
beforeAll(async () => void (own = await startOwnEdge(undefined, policy)));
afterAll(() => own?.edge.stop());

/** Of the session that has seen a secret, and of one that has not; of a count that is used up; and of a key that was used. */
async function decisions(): Promise<readonly number[]> {
  return [
    await own.call("echo", { message: "x" }, { sessionId: "told" }),
    await own.call("echo", { message: "x" }, { sessionId: "other" }),
    await own.call("calculator", { expression: "2 * 3" }),
    await own.call("kv_put", { key: "workspace/kept", value: "other" }, {}, { "idempotency-key": "once" }),
  ];
}

async function kept(): Promise<string> {
  const response = await fetch(`${own.edge.url}/v1/tools/kv_get/calls`, {
    method: "POST",
    headers: { authorization: "Bearer own-token", "content-type": "application/json" },
    body: JSON.stringify({ input: { key: "workspace/kept" } }),
  });
  return response.text();
}

it("decides after each SIGKILL of its kernel as before", async () => {
  expect(await own.call("hash", { data: "secret" }, { sessionId: "told" })).toBe(200);
  for (const expression of ["1 + 1", "1 + 2", "1 + 3"]) expect(await own.call("calculator", { expression })).toBe(200);
  const put = { key: "workspace/kept", value: "first" };
  expect(await own.call("kv_put", put, {}, { "idempotency-key": "once" })).toBe(200);
  const before = await decisions();
  expect(before).toEqual([403, 200, 403, 422]);
  for (let death = 0; death < 2; death++) {
    await killed(own, "kernel");
    await untilServing(own);
    expect(await decisions()).toEqual(before);
    // Told that it was done; and not done again.
    expect(await own.call("kv_put", { ...put, value: "second" })).toBe(200);
    expect(await own.call("kv_put", put, {}, { "idempotency-key": "once" })).toBe(422);
    expect(await kept()).toContain("second");
  }
});
