import { memoryStore } from "@keyhole/worker-host/brokers/files";
import { opfsStore } from "@keyhole/worker-host/brokers/files-opfs";
import { afterEach } from "vitest";
import { filesContract } from "../contract/broker.ts";

const folder = "keyhole-contract";

afterEach(async () => {
  const top = await navigator.storage.getDirectory();
  await top.removeEntry(folder, { recursive: true }).catch(() => {});
});

filesContract("memory", () => memoryStore());
filesContract("OPFS", () => opfsStore({ folder }));
