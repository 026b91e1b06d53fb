import type { AuditEvent } from "@keyhole/kernel";
import { beforeEach, describe, expect, it } from "vitest";
import { openService, type Service, type TokenName } from "./service.ts";

let service: Service;
beforeEach(async () => {
  service = await openService();
});

const ask = async (tool: string, token: TokenName | null = "all", method = "POST"): Promise<[number, unknown]> => {
  const response = await service.send(`/v1/tools/${tool}/health`, { method }, token);
  return [response.status, await response.json()];
};

const events = async (): Promise<readonly AuditEvent[]> => {
  const response = await service.send("/v1/audit?limit=1000");
  return (await response.json<{ readonly events: readonly AuditEvent[] }>()).events;
};

describe("the health of a tool", () => {
  it("is told to whoever may call it, and is on record under their name", async () => {
    expect(await ask("echo", "caller")).toEqual([200, { state: "healthy" }]);
    expect((await events()).slice(-2)).toMatchObject([
      { type: "health.asked", payload: { tool: "echo@1.2.0", caller: "caller" } },
      { type: "health.answered", payload: { tool: "echo@1.2.0", state: "healthy" } },
    ]);
  });

  it.each<[string, TokenName | null, number]>([
    ["without a token", null, 401],
    ["with a token that may only read", "reader", 403],
    ["with a token for nothing", "nobody", 403],
  ])("is not told %s, and nothing runs", async (_, token, status) => {
    expect((await ask("ill", token))[0]).toBe(status);
    expect((await events()).filter(({ type }) => type.startsWith("health."))).toEqual([]);
  });

  it("is asked for by POST alone: a GET may be sent again by anything on the way", async () => {
    const response = await service.send("/v1/tools/echo/health");
    expect([response.status, response.headers.get("allow")]).toEqual([405, "POST"]);
  });

  it("of a tool that nobody knows is 404", async () => {
    expect(await ask("nobody")).toMatchObject([404, { code: "NOT_FOUND" }]);
    expect(await ask("constructor")).toMatchObject([404, { code: "NOT_FOUND" }]);
  });

  it("is asked once by a crowd, and once by each caller", async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, () => ask("ill")));
    const [[status, first] = [0, undefined]] = answers;
    expect([status, first]).toEqual([503, { state: "unhealthy", reason: expect.stringMatching(/^Asked \d+ times.$/) }]);
    expect(answers).toEqual(answers.map(() => [503, first]));
    expect(await ask("ill")).toEqual([503, first]);
    expect(await ask("ill", "caller")).not.toEqual([503, first]);
    expect((await events()).filter(({ type }) => type === "health.asked")).toHaveLength(2);
  });
});
