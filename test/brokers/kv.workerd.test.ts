import { env } from "cloudflare:workers";
import { memoryKv } from "@keyhole/worker-host/brokers/kv";
import { type KvNamespaceLike, workersKv } from "@keyhole/worker-host/brokers/kv-workers";
import { expect, it } from "vitest";
import { kvContract } from "../contract/kv.ts";

const namespace = (env as unknown as { readonly VALUES: KVNamespace }).VALUES;
let stores = 0;

kvContract("memory", () => memoryKv());
kvContract("Workers KV", () => workersKv(namespace, { prefix: `store-${stores++}/` }));

it("the namespace of the platform is one", () => {
  const same: KvNamespaceLike = namespace;
  expect(same).toBe(namespace);
});

it("tenants are kept apart by their prefix, also by a cursor of another's page", async () => {
  const [one, two] = [workersKv(namespace, { prefix: "one/" }), workersKv(namespace, { prefix: "two/" })];
  for (const key of ["a", "b", "c"]) {
    await one.put(key, new Uint8Array([1]));
    await two.put(key, new Uint8Array([2]));
  }
  const page = await one.list("", 1);
  const next = page.ok ? page.value.next : undefined;
  expect(next).toBeTypeOf("string");
  const other = await two.list("", 10, next);
  if (other.ok) for (const key of other.value.keys) expect(await two.get(key, 10)).toMatchObject({ ok: true });
  expect(await one.get("a", 10)).toEqual({ ok: true, value: new Uint8Array([1]) });
});
