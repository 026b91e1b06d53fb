import type { ContentStore } from "@keyhole/kernel";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { memoryStore } from "@keyhole/worker-host/brokers/files";
import { memoryKv } from "@keyhole/worker-host/brokers/kv";
import { contentStore, keyedContentStore } from "@keyhole/worker-host/content";
import { nodeKv, nodeStore } from "@keyhole/worker-host/node";
import { afterAll, beforeAll, expect, it } from "vitest";
import { describeContentStore } from "./content.ts";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "keyhole-content-"));
});
afterAll(() => rm(folder, { recursive: true }));

describeContentStore("in memory", () => contentStore(memoryStore()));
describeContentStore("in a folder", async () => contentStore(nodeStore(await mkdtemp(join(folder, "store-")))));
describeContentStore("in values in memory", () => keyedContentStore(memoryKv()));
let databases = 0;
describeContentStore("in SQLite", () => keyedContentStore(nodeKv(join(folder, `values-${databases++}.sqlite`))));

it.each<[string, () => ContentStore]>([
  ["of files", () => contentStore(memoryStore())],
  ["of values", () => keyedContentStore(memoryKv())],
])("a content store %s keeps what it has under a digest", async (_, make) => {
  const store = make();
  const digest = `blake3:${"a".repeat(64)}`;
  await store.put(digest, Uint8Array.of(1, 2));
  await store.put(digest, Uint8Array.of(3));
  expect(await store.get(digest)).toEqual(Uint8Array.of(1, 2));
  await expect(keyedContentStore(memoryKv(), { maxBytes: 1 }).put(digest, new Uint8Array(2))).rejects.toThrow(
    "takes values of 1 bytes",
  );
});

it("a content store says what its limit is, and that it is full", async () => {
  const digest = `blake3:${"a".repeat(64)}`;
  const small = contentStore(memoryStore({ totalBytes: 10 }), { maxBytes: 20 });
  await expect(small.put(digest, new Uint8Array(21))).rejects.toThrow("takes values of 20 bytes");
  await expect(small.put(digest, new Uint8Array(11))).rejects.toThrow("no-space");
  await small.put(digest, new Uint8Array(10));
});
