import { expect } from "vitest";
import type { OwnEdge } from "./own-edge.ts";

/* State that governs, on an edge that runs: what happened before a kernel began decides its calls. */

const hourMs = 3_600_000;
export const policy = {
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
    {
      id: "please",
      effect: "ask",
      when: { tool: ["echo"], arguments: [{ at: "/message", equals: "please" }] },
      reason: "It says please.",
    },
  ],
};

const twiceAnHour = { bounds: { callsPerHour: 2 } };

const asking = [{ message: "please" }, { sessionId: "approved" }] as const;

/**
 * Of the session that has seen a secret, and of one that has not; of a count and of an hour that are used up; of a key that was used; and of a session in which a person
 * said yes: there nobody is asked again, and a call that asked would wait without end.
 */
export async function decisions(own: OwnEdge): Promise<readonly unknown[]> {
  return [
    await own.call("echo", { message: "x" }, { sessionId: "told" }),
    await own.call("echo", { message: "x" }, { sessionId: "other" }),
    await own.call("calculator", { expression: "2 * 3" }),
    await own.call("kv_get", { key: "workspace/a" }, twiceAnHour),
    await own.call("kv_put", { key: "workspace/kept", value: "other" }, {}, { "idempotency-key": "once" }),
    await own.call("echo", ...asking),
  ];
}

export function mode(own: OwnEdge, change?: object): Promise<Response> {
  return fetch(`${own.edge.url}/v1/mode`, {
    headers: { authorization: "Bearer own-token", "content-type": "application/json" },
    ...(change && { method: "PUT", body: JSON.stringify(change) }),
  });
}

async function approvals(own: OwnEdge, path = "", body?: object): Promise<Response> {
  return fetch(`${own.edge.url}/v1/approvals${path}`, {
    headers: { authorization: "Bearer own-token", "content-type": "application/json" },
    ...(body && { method: "POST", body: JSON.stringify(body) }),
  });
}

/** Says yes to the one question of a call, for its whole session. */
async function approveSession(own: OwnEdge): Promise<void> {
  const called = own.call("echo", ...asking);
  let asked: readonly { readonly approvalId: string }[] = [];
  while (asked.length === 0) asked = (await (await approvals(own)).json()).approvals;
  const answer = { answer: "allow", scope: "session" };
  expect((await approvals(own, `/${asked[0]?.approvalId}`, answer)).status).toBe(204);
  expect(await called).toBe(200);
}

async function kept(own: OwnEdge): Promise<string> {
  const response = await fetch(`${own.edge.url}/v1/tools/kv_get/calls`, {
    method: "POST",
    headers: { authorization: "Bearer own-token", "content-type": "application/json" },
    body: JSON.stringify({ input: { key: "workspace/kept" } }),
  });
  return response.text();
}

const put = { key: "workspace/kept", value: "first" };
const once = { "idempotency-key": "once" };

/** Does what governs later calls. */
export async function govern(own: OwnEdge): Promise<void> {
  expect(await own.call("hash", { data: "secret" }, { sessionId: "told" })).toBe(200);
  for (const expression of ["1 + 1", "1 + 2", "1 + 3"]) expect(await own.call("calculator", { expression })).toBe(200);
  for (let i = 0; i < 2; i++) expect(await own.call("kv_get", { key: "workspace/a" }, twiceAnHour)).toBe(200);
  expect(await own.call("kv_put", put, {}, once)).toBe(200);
  await approveSession(own);
  expect(await decisions(own)).toEqual(governed);
}

export const governed = [403, 200, 403, 429, 422, 200];

/** That a call under a used key is told so, and is not done again. */
export async function expectDoneOnce(own: OwnEdge): Promise<void> {
  expect(await own.call("kv_put", { ...put, value: "second" })).toBe(200);
  expect(await own.call("kv_put", put, {}, once)).toBe(422);
  expect(await kept(own)).toContain("second");
}
