import { describe, expect, it } from "vitest";
import { createGateway, type McpAccess } from "../../packages/edge/src/app/gateway.ts";
import { approvalPath } from "../../packages/edge/src/app/page-path.ts";

// A service that takes access tokens beside the table, or in place of it.

const access: McpAccess = { metadata: () => undefined, authenticate: async () => new Response(null, { status: 401 }) };
const tokens = JSON.stringify({ ["0".repeat(64)]: { subject: "a", scopes: [], tenant: "acme" } });

function opened(table: string | undefined, door?: McpAccess) {
  const asked: string[] = [];
  const backend = {
    forward: async (_: Request, { tenant }: { readonly tenant: string }) => new Response(`${asked.push(tenant)}`),
    causes: async (_: object, tenant: string) => (asked.push(tenant), []),
  };
  const gateway = createGateway<object>(() => ({ tokens: table, origins: undefined }), backend, door);
  const statusOf = async (path: string): Promise<number> => (await gateway.request(path, {}, {})).status;
  return { statusOf, asked };
}

describe("the health of a service", () => {
  it.each([undefined, "", "{}"])("that takes access tokens needs no table of tokens, such as %j", async (table) => {
    const { statusOf, asked } = opened(table, access);
    expect(await statusOf("/healthz")).toBe(200);
    expect(asked).toEqual(["default"]);
    expect(await opened(table).statusOf("/healthz")).toBe(503);
  });

  it("is that of a tenant in the table, where it has one", async () => {
    const { statusOf, asked } = opened(tokens, access);
    expect(await statusOf("/healthz")).toBe(200);
    expect(asked).toEqual(["acme"]);
  });
});

describe("an approval page", () => {
  it("is there for a tenant that access tokens alone name, at the address that its kernel made, and at no other", async () => {
    const { statusOf, asked } = opened(tokens, access);
    const path = approvalPath("guests", tokens)!;
    expect(await statusOf(`${path}1`)).toBe(200);
    expect(asked).toEqual(["guests"]);
    expect(await statusOf(`${path.replace("guests", "others")}1`)).toBe(404);
    expect(await opened(tokens).statusOf(`${path}1`)).toBe(404);
  });

  it("has no address where everybody could make one", () => {
    expect([undefined, "", "{}"].map((table) => approvalPath("guests", table))).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  });
});
