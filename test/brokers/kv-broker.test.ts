import type { Capability, BrokerReply, CapabilityRequest, JsonObject } from "@keyhole/kernel";
import { kvBroker, type KvStore, memoryKv } from "@keyhole/worker-host/brokers/kv";
import { beforeEach, describe, expect, it } from "vitest";
import { openSession, type SessionOptions } from "./session.ts";

const bytes = (content: string): Uint8Array => new TextEncoder().encode(content);
const broken: KvStore = {
  get: async () => ({ ok: false, fault: "broken" }),
  put: async () => ({ ok: false, fault: "no-space" }),
  delete: async () => ({ ok: false, fault: "broken" }),
  list: async () => ({ ok: false, fault: "broken" }),
};

let broker = kvBroker(memoryKv());
beforeEach(() => {
  broker = kvBroker(memoryKv());
});

function requestOf(operation: string, args: JsonObject, body?: Uint8Array): CapabilityRequest {
  const kind = operation === "put" || operation === "delete" ? "kv.write" : "kv.read";
  return { kind, operation, arguments: args, ...(body && { body }) };
}

const ask = (operation: string, args: JsonObject, body?: Uint8Array, options?: SessionOptions): Promise<BrokerReply> =>
  broker.serve(requestOf(operation, args, body), openSession(options));
const codeOf = (reply: BrokerReply): string => (reply.ok ? "ok" : reply.error.code);

it("puts, gets, lists and deletes", async () => {
  expect(await ask("put", { key: "a/1" }, bytes("one"))).toEqual({ ok: true, value: null });
  await ask("put", { key: "a/2" }, bytes("two"));
  expect(await ask("get", { key: "a/1" })).toEqual({ ok: true, value: { found: true }, body: bytes("one") });
  expect(await ask("list", { prefix: "a/", limit: 1 })).toEqual({ ok: true, value: { keys: ["a/1"], next: "a/1" } });
  expect(await ask("list", { prefix: "a/", limit: 1, after: "a/1" })).toEqual({ ok: true, value: { keys: ["a/2"] } });
  expect(await ask("delete", { key: "a/1" })).toEqual({ ok: true, value: null });
  expect(await ask("get", { key: "a/1" })).toEqual({ ok: true, value: { found: false } });
});

describe("needs", () => {
  it.each([
    ["get", { key: "a" }, undefined, { kind: "kv.read", key: "a" }],
    ["list", { prefix: "a/" }, undefined, { kind: "kv.read", key: "a/", lists: true }],
    ["list", { prefix: "" }, undefined, { kind: "kv.read", key: "", lists: true }],
    ["put", { key: "a" }, bytes("123"), { kind: "kv.write", key: "a", bytes: 3 }],
    ["delete", { key: "a" }, undefined, { kind: "kv.write", key: "a" }],
  ] as const)("of %s of %j", (operation, args, body, need) => {
    expect(broker.needs(requestOf(operation, args, body))).toEqual({ ok: true, needs: [need] });
  });
});

describe("is refused before anything is touched", () => {
  it.each([
    ["get", {}],
    ["get", { key: 1 }],
    ["get", { key: "" }],
    ["get", { key: "." }],
    ["get", { key: ".." }],
    ["get", { key: "a\u0000b" }],
    ["get", { key: "a\nb" }],
    ["get", { key: "a\u202eb" }],
    ["get", { key: "e\u0301" }],
    ["get", { key: "\ud800" }],
    ["get", { key: "a*" }],
    ["get", { key: "k".repeat(385) }],
    ["get", { key: "é".repeat(193) }],
    ["get", { key: ["a"] }],
    ["delete", { key: "" }],
    ["put", { key: "a" }],
    ["list", {}],
    ["list", { prefix: "a\u0000" }],
    ["list", { prefix: "", limit: 0 }],
    ["list", { prefix: "", limit: 1_001 }],
    ["list", { prefix: "", limit: 1.5 }],
    ["list", { prefix: "", limit: "1" }],
    ["list", { prefix: "", after: 1 }],
    ["list", { prefix: "", after: "x".repeat(2_049) }],
    ["list", { prefix: "", after: "\ud800" }],
    ["clear", { key: "a" }],
    ["toString", { key: "a" }],
    ["__proto__", { key: "a" }],
  ] as const)("%s of %j", async (operation, args) => {
    const request = requestOf(operation, args);
    expect(broker.needs(request)).toMatchObject({ ok: false, error: { code: "INVALID_REQUEST" } });
    expect(await broker.serve(request, openSession())).toMatchObject({ ok: false, error: { code: "INVALID_REQUEST" } });
  });

  it("an operation under the other kind, and a body where none belongs", () => {
    expect(broker.needs({ kind: "kv.read", operation: "delete", arguments: { key: "a" } })).toMatchObject({
      ok: false,
    });
    expect(broker.needs({ kind: "kv.write", operation: "get", arguments: { key: "a" } })).toMatchObject({ ok: false });
    expect(
      broker.needs({ kind: "kv.read", operation: "get", arguments: { key: "a" }, body: bytes("x") }),
    ).toMatchObject({
      ok: false,
    });
  });
});

it("takes the longest key", async () => {
  expect(codeOf(await ask("put", { key: "k".repeat(384) }, bytes("x")))).toBe("ok");
});

it("bounds a value at the grant's size and not one byte later", async () => {
  expect(codeOf(await ask("put", { key: "a" }, bytes("12345"), { limit: 5 }))).toBe("ok");
  expect(codeOf(await ask("put", { key: "b" }, bytes("123456"), { limit: 5 }))).toBe("BOUNDS_EXCEEDED");
  expect(codeOf(await ask("get", { key: "a" }, undefined, { limit: 5 }))).toBe("ok");
  expect(codeOf(await ask("get", { key: "a" }, undefined, { limit: 4 }))).toBe("BOUNDS_EXCEEDED");
});

it("bounds a value at 1 MiB where the grant says nothing", async () => {
  expect(codeOf(await ask("put", { key: "a" }, new Uint8Array(1 << 20)))).toBe("ok");
  expect(codeOf(await ask("put", { key: "a" }, new Uint8Array((1 << 20) + 1)))).toBe("BOUNDS_EXCEEDED");
});

it("asks the grant again with the size that it found, and for each key that it lists", async () => {
  for (const key of ["a/1", "a/secret", "b"]) await ask("put", { key }, bytes("12345"));
  const small: readonly Capability[] = [{ kind: "kv.read", keys: ["a/1"], valueBytes: 4 }];
  expect(codeOf(await ask("get", { key: "a/1" }, undefined, { grants: small }))).toBe("CAPABILITY_DENIED");
  const some: readonly Capability[] = [{ kind: "kv.read", keys: ["a/1"] }];
  expect(await ask("list", { prefix: "a/" }, undefined, { grants: some })).toEqual({
    ok: true,
    value: { keys: ["a/1"] },
  });
});

it("does not show keys that a tool could not name", async () => {
  const store = memoryKv();
  for (const key of ["ok", "line\nbreak", "star*"]) await store.put(key, bytes("x"));
  const reply = await kvBroker(store).serve(requestOf("list", { prefix: "" }), openSession());
  expect(reply).toEqual({ ok: true, value: { keys: ["ok"] } });
});

it("does nothing for a call that has ended", async () => {
  expect(codeOf(await ask("put", { key: "a" }, bytes("x"), { signal: AbortSignal.abort() }))).toBe("CANCELLED");
  expect(await ask("get", { key: "a" })).toEqual({ ok: true, value: { found: false } });
});

it.each(["get", "put", "delete", "list"])("says that the storage failed, and is usable: %s", async (operation) => {
  const args = operation === "list" ? { prefix: "" } : { key: "a" };
  const request = requestOf(operation, args, operation === "put" ? bytes("x") : undefined);
  expect(await kvBroker(broken).serve(request, openSession())).toMatchObject({
    ok: false,
    error: { code: "UNAVAILABLE" },
  });
});
