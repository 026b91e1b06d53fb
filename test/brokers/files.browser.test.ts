import { memoryStore } from "@keyhole/worker-host/brokers/files";
import { opfsStore } from "@keyhole/worker-host/brokers/files-opfs";
import { afterEach, expect, it } from "vitest";
import { filesContract } from "../contract/broker.ts";

const folder = "keyhole-contract";

afterEach(async () => {
  const top = await navigator.storage.getDirectory();
  await top.removeEntry(folder, { recursive: true }).catch(() => {});
});

filesContract("memory", () => memoryStore());
filesContract("OPFS", () => opfsStore({ folder }));

it("OPFS serves a dedicated worker too", async () => {
  const worker = new Worker(new URL("./opfs-worker.ts", import.meta.url), { type: "module" });
  const { promise, resolve, reject } = Promise.withResolvers<unknown>();
  worker.addEventListener("message", ({ data }) => resolve(data), { once: true });
  worker.addEventListener("error", ({ message }) => reject(new Error(message)), { once: true });
  expect(await promise).toEqual({
    write: { ok: true, value: null },
    list: { ok: true, value: [{ name: "b", kind: "file", byteLength: 13 }] },
    text: "from a worker",
  });
  worker.terminate();
});
