import type { AuditEvent } from "@keyhole/kernel";
import { beforeEach, describe, expect, it } from "vitest";
import { openService, type Service } from "./service.ts";

let service: Service;
beforeEach(async () => {
  service = await openService();
});

describe("a preview", () => {
  const preview = async (tool: string, body: unknown, token: "all" | "caller" = "all") => {
    const init = { method: "POST", body: JSON.stringify(body), headers: { "content-type": "application/json" } };
    return service.send(`/v1/tools/${tool}/preview`, init, token);
  };
  const eventsNow = async () =>
    ((await (await service.send("/v1/audit")).json()) as { readonly events: readonly AuditEvent[] }).events.length;

  it("says what would be decided, and leaves no event", async () => {
    const before = await eventsNow();
    expect(await (await preview("echo", { input: { message: "x" } })).json()).toMatchObject({
      decision: "allow",
      tool: "echo@1.2.0",
      proof: { reasonCode: "posture" },
    });
    expect(await (await preview("asks", { input: { amount: 7 } }, "caller")).json()).toMatchObject({
      decision: "ask",
      question: { input: { amount: 7 }, caller: "caller" },
    });
    expect(service.desk.list()).toEqual([]);
    expect(await eventsNow()).toBe(before);
  });

  it("says so with 200 where the call would fail, and gives operators their hint", async () => {
    for (const [tool, code] of [
      ["missing", "TOOL_NOT_FOUND"],
      ["echo", "INVALID_INPUT"],
      ["forbidden", "POLICY_DENIED"],
    ] as const) {
      const response = await preview(tool, { input: {} });
      expect(response.status).toBe(200);
      expect(await response.json()).toMatchObject({ decision: "deny", error: { code } });
    }
    expect(await (await preview("forbidden", { input: {} })).json()).not.toMatchObject({ error: { operatorHint: "" } });
    expect(await (await preview("forbidden", { input: {} }, "caller")).json()).toMatchObject({
      error: { operatorHint: "" },
    });
  });

  it("takes the body of a call, and no other", async () => {
    expect((await preview("echo", { message: "x" })).status).toBe(400);
    const options = { version: "1.0.0", sessionId: "s", bounds: { timeoutMs: 1 }, grants: [] };
    expect(await (await preview("echo", { input: {}, ...options })).json()).toMatchObject({ tool: "echo@1.0.0" });
  });
});
