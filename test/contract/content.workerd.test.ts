import { runInDurableObject } from "cloudflare:test";
import { sqlContent, type SqlContentOptions } from "@keyhole/edge";
import { type ContentStore, hashBytes } from "@keyhole/kernel";
import { r2Store } from "@keyhole/worker-host/brokers/files-r2";
import { contentStore } from "@keyhole/worker-host/content";
import { expect, it } from "vitest";
import { bindings } from "../edge/bindings.ts";
import { describeContentStore } from "./content.ts";

let stores = 0;
describeContentStore("in R2", () => contentStore(r2Store(bindings.FILES, { prefix: `content-${stores++}/` })));

/** Storage can only be used inside its object, so each operation goes there. */
async function inObject(options?: SqlContentOptions): Promise<ContentStore> {
  const stub = bindings.KERNEL.getByName(`content-${stores++}`);
  const use = <Result>(operation: (store: ContentStore) => Promise<Result>): Promise<Result> =>
    runInDurableObject(stub, (_, { storage }) => operation(sqlContent(storage, options)));
  return {
    maxBytes: await runInDurableObject(stub, (_, { storage }) => sqlContent(storage, options).maxBytes!),
    put: (digest, bytes, what) => use((store) => store.put(digest, bytes, what)),
    get: (digest) => use((store) => store.get(digest)),
    delete: (digest) => use((store) => store.delete(digest)),
  };
}

describeContentStore("in Durable Object SQLite", () => inObject());

it("in Durable Object SQLite takes values of many rows, up to its bound", async () => {
  const store = await inObject();
  for (const byteLength of [1_048_575, 1_048_576, 1_048_577, 5_000_000, 33_554_432]) {
    const bytes = new Uint8Array(byteLength).fill(byteLength % 251);
    await store.put(hashBytes(bytes), bytes);
    const kept = (await store.get(hashBytes(bytes))) ?? new Uint8Array();
    expect(hashBytes(kept)).toBe(hashBytes(bytes));
    await store.delete(hashBytes(bytes));
    expect(await store.get(hashBytes(bytes))).toBeUndefined();
  }
});

it("in Durable Object SQLite drops the oldest outputs for new ones, and nothing that the log commits to", async () => {
  const store = await inObject({ outputBytes: 3_000_000 });
  const values = Array.from({ length: 5 }, (_, i) => new Uint8Array(1_500_000 - i).fill(i));
  const [kept, ...outputs] = values as [Uint8Array, ...Uint8Array[]];
  await store.put(hashBytes(kept), kept);
  for (const bytes of outputs) await store.put(hashBytes(bytes), bytes, "ada");
  const there = await Promise.all(values.map(async (bytes) => (await store.get(hashBytes(bytes))) !== undefined));
  expect(there).toEqual([true, false, false, true, true]);

  // One that the log commits to later is no output any more.
  const last = outputs.at(-1) ?? kept;
  await store.put(hashBytes(last), last);
  for (const bytes of outputs.slice(0, 2)) await store.put(hashBytes(bytes), bytes, "ada");
  expect(await store.get(hashBytes(last))).toBeDefined();
  // And one that it commits to does not become an output by being one as well.
  await store.put(hashBytes(kept), kept, "ada");
  for (const bytes of outputs.slice(0, 3).toReversed()) await store.put(hashBytes(bytes), bytes, "ada");
  expect(await store.get(hashBytes(kept))).toBeDefined();
  const tooLarge = new Uint8Array(3_000_001);
  await expect(store.put(hashBytes(tooLarge), tooLarge, "ada")).rejects.toThrow("takes values of");
});

it("in Durable Object SQLite drops no output of one caller for the flood of another", async () => {
  const store = await inObject({ outputBytes: 3_000_000 });
  const paid = new Uint8Array(1_000_000);
  const flood = Array.from({ length: 4 }, (_, i) => new Uint8Array(999_999 - i).fill(i + 1));
  await store.put(hashBytes(paid), paid, "ada");
  for (const bytes of flood) await store.put(hashBytes(bytes), bytes, "eve");
  expect(await store.get(hashBytes(paid))).toBeDefined();
});
