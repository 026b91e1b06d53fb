import {
  type ApprovalRequest,
  type AuditEvent,
  type CallFailure,
  type CallSuccess,
  verifyChain,
} from "@keyhole/kernel";
import { beforeEach, describe, expect, it } from "vitest";
import { openService, type Service, untilAsked } from "./service.ts";

let service: Service;
beforeEach(async () => {
  service = await openService();
});

const problemOf = async (
  response: Response,
): Promise<{ readonly code: string; readonly detail: string; readonly result: CallFailure }> => {
  expect(response.headers.get("content-type")).toBe("application/problem+json");
  return response.json();
};

describe("approvals", () => {
  const post = (id: string, body: unknown): Promise<Response> =>
    service.send(`/v1/approvals/${id}`, {
      method: "POST",
      body: JSON.stringify(body),
      headers: { "content-type": "application/json" },
    });

  it("are listed with the exact arguments, and answered by the token's subject", async () => {
    const pending = service.call("asks", { input: { amount: 7 } });
    const { approvalId } = await untilAsked(service);
    const { approvals } = await (await service.send("/v1/approvals")).json<{ approvals: ApprovalRequest[] }>();
    expect(approvals).toMatchObject([{ approvalId, tool: "asks@1.0.0", input: { amount: 7 }, caller: "alice" }]);
    expect((await post(approvalId, { answer: "deny", reason: "not today" })).status).toBe(204);
    const response = await pending;
    expect(response.status).toBe(403);
    expect(await problemOf(response)).toMatchObject({
      code: "APPROVAL_DENIED",
      detail: "alice denied the call. Reason: not today",
    });
  });

  it("are answered once", async () => {
    const pending = service.call("asks", { input: {} });
    const { approvalId } = await untilAsked(service);
    expect((await post(approvalId, { answer: "allow" })).status).toBe(204);
    expect((await post(approvalId, { answer: "deny" })).status).toBe(404);
    expect((await pending).status).toBe(200);
    expect(service.desk.list()).toEqual([]);
  });

  it("for a session are not asked again in it", async () => {
    const body = { input: { amount: 1 }, sessionId: "s" };
    const pending = service.call("asks", body);
    await post((await untilAsked(service)).approvalId, { answer: "allow", scope: "session" });
    expect((await pending).status).toBe(200);
    expect((await service.call("asks", body)).status).toBe(200);
  });

  it("for a pattern answer what fits it, are listed as the rule they became, and end when they are revoked", async () => {
    const call = (amount: number): Promise<Response> => service.call("asks", { input: { amount }, sessionId: "s" });
    const pending = call(5);
    const { approvalId } = await untilAsked(service);
    const pattern = [{ at: "/amount", atMost: 10 }];
    expect((await post(approvalId, { answer: "allow", scope: "pattern", pattern })).status).toBe(204);
    expect((await pending).status).toBe(200);
    expect((await call(10)).status).toBe(200);

    const listed = await (await service.send("/v1/approvals")).json();
    expect(listed).toMatchObject({
      approvals: [],
      standing: [
        {
          approvalId,
          tool: "asks@1.0.0",
          caller: "alice",
          sessionId: "s",
          scope: "pattern",
          rule: { when: { arguments: pattern } },
        },
      ],
    });

    const beyond = call(11);
    await post((await untilAsked(service)).approvalId, { answer: "deny" });
    expect((await beyond).status).toBe(403);

    expect((await service.send(`/v1/approvals/${approvalId}`, { method: "DELETE" })).status).toBe(204);
    expect((await service.send(`/v1/approvals/${approvalId}`, { method: "DELETE" })).status).toBe(404);
    const after = call(10);
    await post((await untilAsked(service)).approvalId, { answer: "deny" });
    expect((await after).status).toBe(403);
  });

  it("with other arguments start the call again, which asks again", async () => {
    const pending = service.call("asks", { input: { amount: 1 } });
    const { approvalId } = await untilAsked(service);
    expect((await post(approvalId, { answer: "edit", input: { amount: 2 } })).status).toBe(204);
    const again = await untilAsked(service);
    expect(again).toMatchObject({ input: { amount: 2 } });
    expect(again.approvalId).not.toBe(approvalId);
    await post(again.approvalId, { answer: "allow" });
    expect((await pending).status).toBe(200);
  });

  it("that wait are denied when they are revoked", async () => {
    const pending = service.call("asks", { input: {} });
    const { approvalId } = await untilAsked(service);
    expect((await service.send(`/v1/approvals/${approvalId}`, { method: "DELETE" })).status).toBe(204);
    expect(await problemOf(await pending)).toMatchObject({ code: "APPROVAL_DENIED" });
    expect(service.desk.list()).toEqual([]);
  });

  it("take a scope beside a denial, as the kernel does", async () => {
    const pending = service.call("asks", { input: {} });
    const { approvalId } = await untilAsked(service);
    expect((await post(approvalId, { answer: "deny", scope: "once" })).status).toBe(204);
    expect(await problemOf(await pending)).toMatchObject({ code: "APPROVAL_DENIED" });
  });

  it.each([
    {},
    { answer: "yes" },
    { answer: "allow", scope: "forever" },
    { answer: "deny", reason: 1 },
    { answer: "allow", approver: "root" },
    { answer: "allow", reason: "why not" },
    { answer: "deny", input: {} },
    { answer: "edit" },
    { answer: "edit", input: {}, scope: "session" },
    { answer: "allow", pattern: [] },
    { answer: "allow", scope: "pattern" },
    { answer: "allow", scope: "pattern", pattern: {} },
    { answer: "allow", scope: "pattern", pattern: [{ at: "/amount", matches: ".*" }] },
    { answer: "allow", scope: "pattern", pattern: [{ at: "amount", exists: true }] },
    { answer: "allow", scope: "pattern", pattern: [{ at: "/amount", equals: "what was not shown" }] },
    [],
  ])("are not answered by %j", async (body) => {
    const pending = service.call("asks", { input: {} });
    const { approvalId } = await untilAsked(service);
    expect((await post(approvalId, body)).status).toBe(400);
    expect(service.desk.list()).toHaveLength(1);
    await post(approvalId, { answer: "deny" });
    await pending;
  });
});

describe("reading", () => {
  it("lists tools sorted, and narrows", async () => {
    const names = async (query: string): Promise<string[]> => {
      const { tools } = await (await service.send(`/v1/tools${query}`)).json<{ tools: { id: string }[] }>();
      return tools.map(({ id }) => id);
    };
    expect((await names("")).slice(0, 3)).toEqual(["asks@1.0.0", "broken@1.0.0", "bytes@1.0.0"]);
    expect(await names("?category=text")).toEqual(["echo@1.2.0"]);
    expect(await names("?tier=4&text=DENIED")).toEqual(["forbidden@1.0.0"]);
  });

  it("shows every version of a tool, highest first", async () => {
    const { versions } = await (
      await service.send("/v1/tools/echo")
    ).json<{ versions: { id: string; hash: string }[] }>();
    expect(versions.map(({ id }) => id)).toEqual(["echo@1.2.0", "echo@1.0.0"]);
    expect((await service.send("/v1/tools/none")).status).toBe(404);
  });

  it("gives the log in pages that verify as one chain", async () => {
    await service.call("echo", { input: { message: "x" } });
    await service.call("broken", { input: {} });
    const events: AuditEvent[] = [];
    for (let from = 0; ;) {
      const page = await (
        await service.send(`/v1/audit?from=${from}&limit=3`)
      ).json<{ events: AuditEvent[]; next: number }>();
      events.push(...page.events);
      expect(page.events.length).toBeLessThanOrEqual(3);
      if (page.events.length === 0) break;
      from = page.next;
    }
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, i) => i));
    expect(verifyChain(events)).toMatchObject({ ok: true });
  });

  it.each(["?limit=1001", "?limit=-1", "?from=x", "?from=1.5", "?nothing=1", "?limit="])(
    "refuses the query %s of the log",
    async (query) => {
      const response = await service.send(`/v1/audit${query}`);
      expect(response.status).toBe(400);
      expect(await problemOf(response)).toMatchObject({ code: "INVALID_REQUEST" });
    },
  );

  it.each(["?tier=5", "?tier=", "?mode=SLEEPY", "?effect=fly", "?name=x"])("refuses the filter %s", async (query) => {
    expect((await service.send(`/v1/tools${query}`)).status).toBe(400);
  });

  const putMode = (body: unknown): Promise<Response> =>
    service.send("/v1/mode", {
      method: "PUT",
      body: JSON.stringify(body),
      headers: { "content-type": "application/json" },
    });

  it("sets the mode for a token that may, and records the token's subject as the author", async () => {
    const put = await putMode({ mode: "LOCKDOWN", reason: "a drill" });
    expect([put.status, await put.json()]).toEqual([200, { mode: "LOCKDOWN" }]);
    expect(await (await service.send("/v1/mode")).json()).toEqual({ mode: "LOCKDOWN" });
    expect((await service.call("asks", { input: {} })).status).toBe(403);
    const { events } = await (await service.send("/v1/audit?limit=1000")).json<{ events: AuditEvent[] }>();
    expect(events.find(({ type }) => type === "mode.changed")?.payload).toEqual({
      mode: "LOCKDOWN",
      previous: "NORMAL",
      reason: "a drill",
      author: "alice",
    });
  });

  it.each([
    {},
    { mode: "LOCKDOWN" },
    { mode: "lockdown", reason: "x" },
    { mode: "__proto__", reason: "x" },
    { mode: "LOCKDOWN", reason: "x".repeat(501) },
    { mode: "LOCKDOWN", reason: "x", author: "eve" },
    "LOCKDOWN",
  ])("does not set the mode for %j", async (body) => {
    const put = await putMode(body);
    expect([put.status, (await problemOf(put)).code]).toEqual([400, "INVALID_REQUEST"]);
    expect(await (await service.send("/v1/mode")).json()).toEqual({ mode: "NORMAL" });
  });

  it("shows the policy, its digest and the mode", async () => {
    const shown = await (await service.send("/v1/policy")).json<{ policyHash: string }>();
    expect(shown).toMatchObject({ mode: "NORMAL", policy: { version: "1", posture: "standard" } });
    const { proof } = await (await service.call("echo", { input: { message: "x" } })).json<CallSuccess>();
    expect(shown.policyHash).toBe(proof.policyHash);
  });
});
