import { runInDurableObject } from "cloudflare:test";
import { kernelObject } from "@keyhole/edge";
import { edgeMcp } from "@keyhole/edge/mcp";
import { echo } from "@keyhole/worker-host/tools";
import { afterEach, beforeEach, expect, it } from "vitest";
import { identityHeader } from "../../packages/edge/src/app/gateway.ts";
import { bindings } from "./bindings.ts";

/* A pending timer keeps an object in memory, and each second there is billed. */

const Configured = kernelObject({ tools: [echo], policy: { version: "1", posture: "standard" }, mcp: edgeMcp() });

const scopes = ["tools:read", "tools:call"];
const identity = encodeURIComponent(JSON.stringify({ subject: "a", scopes, tenant: "timers" }));

/** The delay of each timer that has neither fired nor been stopped. */
const pending = new Map<unknown, number | undefined>();
const { setTimeout: setOne, setInterval: setMany, clearTimeout: clearOne, clearInterval: clearMany } = globalThis;

beforeEach(() => {
  const stop = (id: unknown): void => {
    pending.delete(id);
    clearOne(id as number);
  };
  Object.assign(globalThis, {
    setTimeout: (callback: () => void, delayMs?: number) => {
      const fired = (): void => {
        pending.delete(id);
        callback();
      };
      const id = setOne(fired, delayMs);
      pending.set(id, delayMs);
      return id;
    },
    setInterval: (callback: () => void, delayMs?: number) => {
      const id = setMany(callback, delayMs);
      pending.set(id, delayMs);
      return id;
    },
    clearTimeout: stop,
    clearInterval: stop,
  });
});
afterEach(() => {
  pending.clear();
  Object.assign(globalThis, {
    setTimeout: setOne,
    setInterval: setMany,
    clearTimeout: clearOne,
    clearInterval: clearMany,
  });
});

const envelope = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientInfo": { name: "c", version: "1" },
  "io.modelcontextprotocol/clientCapabilities": {},
};
const params = { name: "echo", arguments: { message: "x" }, _meta: envelope };
const accept = "application/json, text/event-stream";
const overMcp = { "mcp-protocol-version": "2026-07-28", "mcp-method": "tools/call", "mcp-name": "echo", accept };

const requests: readonly (readonly [string, string, object, Record<string, string>])[] = [
  ["a call", "/v1/tools/echo/calls", { input: { message: "x" } }, {}],
  ["a call with a session", "/v1/tools/echo/calls", { input: { message: "x" }, sessionId: "s" }, {}],
  [
    "a call with a stream of events",
    "/v1/tools/echo/calls",
    { input: { message: "x" } },
    { accept: "text/event-stream" },
  ],
  ["a question about health", "/v1/tools/echo/health", {}, {}],
  ["a call over MCP", "/mcp", { jsonrpc: "2.0", id: 1, method: "tools/call", params }, overMcp],
];

it.each(requests)("%s leaves no timer behind", async (name, path, body, headers) => {
  await runInDurableObject(bindings.KERNEL.getByName("timers"), async (_, context) => {
    const object = new Configured(context, { ...bindings, KEYHOLE_TOKENS: "{}" });
    const response = await object.fetch(
      new Request(`http://localhost${path}`, {
        method: "POST",
        headers: { [identityHeader]: identity, "content-type": "application/json", host: "localhost", ...headers },
        body: JSON.stringify(body),
      }),
    );
    expect([name, response.status, await response.text()]).toEqual([name, 200, expect.any(String)]);
    await expect.poll(() => [...pending.values()], { timeout: 3_000 }).toEqual([]);
  });
});
