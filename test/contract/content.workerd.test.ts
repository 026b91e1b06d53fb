import { runInDurableObject } from "cloudflare:test";
import { sqlContent } from "@keyhole/edge";
import { type ContentStore, hashBytes } from "@keyhole/kernel";
import { r2Store } from "@keyhole/worker-host/brokers/files-r2";
import { contentStore } from "@keyhole/worker-host/content";
import { expect, it } from "vitest";
import { bindings } from "../edge/bindings.ts";
import { describeContentStore } from "./content.ts";

let stores = 0;
describeContentStore("in R2", () => contentStore(r2Store(bindings.FILES, { prefix: `content-${stores++}/` })));

/** Storage can only be used inside its object, so each operation goes there. */
function inObject(): ContentStore {
  const stub = bindings.KERNEL.getByName(`content-${stores++}`);
  const use = <Result>(operation: (store: ContentStore) => Promise<Result>): Promise<Result> =>
    runInDurableObject(stub, (_, { storage }) => operation(sqlContent(storage)));
  return {
    put: (digest, bytes) => use((store) => store.put(digest, bytes)),
    get: (digest) => use((store) => store.get(digest)),
    delete: (digest) => use((store) => store.delete(digest)),
  };
}

describeContentStore("in Durable Object SQLite", inObject);

it("in Durable Object SQLite takes values of many rows, up to its bound", async () => {
  const store = inObject();
  for (const byteLength of [1_048_575, 1_048_576, 1_048_577, 5_000_000]) {
    const bytes = new Uint8Array(byteLength).fill(byteLength % 251);
    await store.put(hashBytes(bytes), bytes);
    const kept = (await store.get(hashBytes(bytes))) ?? new Uint8Array();
    expect(hashBytes(kept)).toBe(hashBytes(bytes));
    await store.delete(hashBytes(bytes));
    expect(await store.get(hashBytes(bytes))).toBeUndefined();
  }
  const tooMany = new Uint8Array(33_554_433);
  await expect(store.put(hashBytes(tooMany), tooMany)).rejects.toThrow("takes values of 33554432 bytes");
});
