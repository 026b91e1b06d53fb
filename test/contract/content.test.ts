import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { memoryStore } from "@keyhole/worker-host/brokers/files";
import { contentStore } from "@keyhole/worker-host/content";
import { nodeStore } from "@keyhole/worker-host/node";
import { afterAll, beforeAll, expect, it } from "vitest";
import { describeContentStore } from "./content.ts";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "keyhole-content-"));
});
afterAll(() => rm(folder, { recursive: true }));

describeContentStore("in memory", () => contentStore(memoryStore()));
describeContentStore("in a folder", async () => contentStore(nodeStore(await mkdtemp(join(folder, "store-")))));

it("a content store says what its limit is, and that it is full", async () => {
  const digest = `blake3:${"a".repeat(64)}`;
  const small = contentStore(memoryStore({ totalBytes: 10 }), { maxBytes: 20 });
  await expect(small.put(digest, new Uint8Array(21))).rejects.toThrow("takes values of 20 bytes");
  await expect(small.put(digest, new Uint8Array(11))).rejects.toThrow("no-space");
  await small.put(digest, new Uint8Array(10));
});
