import { env } from "cloudflare:workers";
import { memoryStore } from "@keyhole/worker-host/brokers/files";
import { type R2BucketLike, r2Store } from "@keyhole/worker-host/brokers/files-r2";
import { expect, it } from "vitest";
import { filesContract } from "../contract/broker.ts";

const bucket = (env as unknown as { readonly FILES: R2Bucket }).FILES;
let stores = 0;

filesContract("memory", () => memoryStore());
filesContract("R2", () => r2Store(bucket, { prefix: `store-${stores++}/` }));

it("the bucket of the platform is one", () => {
  const same: R2BucketLike = bucket;
  expect(same).toBe(bucket);
});

it("R2 lists a folder of more than one page", async () => {
  const store = r2Store(bucket, { prefix: "pages/" });
  await Promise.all(Array.from({ length: 1_005 }, (_, i) => bucket.put(`pages/many/${i}`, "x")));
  const listed = await store.list("many");
  expect(listed.ok && new Set(listed.value.map(({ name }) => name)).size).toBe(1_005);
});

it("R2 keeps tenants apart by their prefix", async () => {
  const [one, two] = [r2Store(bucket, { prefix: "one/" }), r2Store(bucket, { prefix: "two/" })];
  await one.write("a", new Uint8Array([1]));
  expect(await two.read("a", 10)).toEqual({ ok: false, fault: "not-found" });
  expect(await two.list("")).toEqual({ ok: true, value: [] });
});
