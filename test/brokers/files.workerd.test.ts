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
  let pages = 0;
  const smallPages: R2BucketLike = {
    head: (key) => bucket.head(key),
    get: (key) => bucket.get(key),
    put: (key, value) => bucket.put(key, value),
    delete: (key) => bucket.delete(key),
    list: (options) => {
      pages++;
      return bucket.list({ ...options, limit: 3 });
    },
  };
  const names = ["a", "b", "c/x", "d", "e/y", "f", "g", "h/z"];
  await Promise.all(names.map((name) => bucket.put(`pages/many/${name}`, "x")));
  const listed = await r2Store(smallPages, { prefix: "pages/" }).list("many");
  expect(listed.ok && listed.value.map(({ name }) => name).toSorted()).toEqual([
    "a",
    "b",
    "c",
    "d",
    "e",
    "f",
    "g",
    "h",
  ]);
  expect(pages).toBeGreaterThan(1);
});

it("R2 keeps tenants apart by their prefix", async () => {
  const [one, two] = [r2Store(bucket, { prefix: "one/" }), r2Store(bucket, { prefix: "two/" })];
  await one.write("a", new Uint8Array([1]));
  expect(await two.read("a", 10)).toEqual({ ok: false, fault: "not-found" });
  expect(await two.list("")).toEqual({ ok: true, value: [] });
});
