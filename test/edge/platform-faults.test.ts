import { BodyReader } from "@keyhole/kernel/foreign";
import { describe, expect, it } from "vitest";
import { readBody } from "../../packages/edge/src/app/body.ts";
import { checkOf } from "../../packages/edge/src/app/check.ts";
import { createGateway } from "../../packages/edge/src/app/gateway.ts";
import { problemOf } from "../../packages/edge/src/app/problem.ts";
import { gatewayWorker } from "../../packages/edge/src/gateway-worker.ts";

const sender = { bodies: new BodyReader(), subject: "a" };

/** SHA-256 of `token`. */
const digest = "3c469e9d6c5875d37a43f353d4f88e61fcf812c66eee3457465a40b0da4153e0";
const tokens = JSON.stringify({ [digest]: { subject: "a", scopes: ["tools:call"] } });

const failing = (error: Error) => async (): Promise<never> => {
  throw error;
};

async function causesOf(error: Error): Promise<unknown> {
  const env = { KEYHOLE_TOKENS: tokens, KERNEL: { getByName: () => ({ fetch: failing(error) }) } };
  const request = new Request("https://edge.example/healthz");
  const response = await gatewayWorker.fetch!(request as never, env as never, {} as never);
  const { causes }: { readonly causes?: unknown } = await response.json();
  return causes;
}

/** As Cloudflare lists them in "Troubleshooting" of Durable Objects. */
const platformFaults: readonly (readonly [string, object, string])[] = [
  ["Network connection lost.", { retryable: true }, "1"],
  ["Durable Object reset because its code was updated.", { durableObjectReset: true }, "1"],
  ["Durable Object exceeded its CPU time limit and was reset.", { durableObjectReset: true, remote: true }, "1"],
  ["Durable Object's isolate exceeded its memory limit and was reset.", { durableObjectReset: true }, "1"],
  ["Durable Object is overloaded. Requests queued for too long.", { overloaded: true }, "10"],
];

describe("an error of the platform", () => {
  it.each(platformFaults)(
    "can be tried again, and does not say that no tool ran: %s",
    async (message, marks, after) => {
      const error = Object.assign(new Error(message), marks);
      const gateway = createGateway<object>(() => ({ tokens, origins: "" }), { forward: failing(error) });
      const headers = { authorization: "Bearer token" };
      const request = new Request("https://edge.example/v1/tools/echo/calls", { method: "POST", headers, body: "{}" });
      const response = await gateway.fetch(request, {});
      expect([response.status, response.headers.get("retry-after")]).toEqual([503, after]);
      const problem: Record<string, unknown> = await response.json();
      expect(problem).toMatchObject({ code: "KERNEL_UNAVAILABLE", status: 503, retryable: true });
      expect(problem["detail"]).toContain("may have run");
      expect(JSON.stringify(problem)).not.toContain(message);
      expect(await causesOf(error)).toEqual([{ code: "KERNEL_UNAVAILABLE", detail: expect.any(String) }]);
    },
  );

  it("is no bug of the gateway itself, which stays one", async () => {
    const forward = (): never => {
      throw new TypeError("env.KERNEL is undefined");
    };
    const gateway = createGateway<object>(() => ({ tokens, origins: "" }), { forward });
    const headers = { authorization: "Bearer token" };
    const response = await gateway.fetch(new Request("https://edge.example/v1/tools", { headers }), {});
    expect([response.status, await response.json()]).toMatchObject([500, { code: "INTERNAL", retryable: false }]);
  });
});

it("a body that breaks off, or is wrongly framed, is the fault of its sender", async () => {
  const body = new ReadableStream({
    start(controller) {
      controller.enqueue(new TextEncoder().encode('{"input":'));
      controller.error(new TypeError("Invalid chunk length"));
    },
  });
  const init = { method: "POST", headers: { "content-type": "application/json" }, body, duplex: "half" };
  const request = new Request("https://kernel/", init);
  const read = readBody(request, checkOf({}), sender);
  const answer = problemOf(await read.catch((error: unknown) => error));
  expect([answer.status, await answer.json()]).toMatchObject([400, { code: "INVALID_REQUEST" }]);
});

it("a compressed body is of another type", async () => {
  const headers = { "content-type": "application/json", "content-encoding": "gzip" };
  const request = new Request("https://kernel/", { method: "POST", headers, body: "{}" });
  const answer = problemOf(await readBody(request, checkOf({}), sender).catch((error: unknown) => error));
  expect([answer.status, await answer.json()]).toMatchObject([415, { code: "UNSUPPORTED_MEDIA_TYPE" }]);
});
