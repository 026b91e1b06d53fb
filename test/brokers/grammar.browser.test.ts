import { opfsStore } from "@keyhole/worker-host/brokers/files-opfs";
import { afterAll } from "vitest";
import { describeGrammar } from "../hostile/paths-grammar.ts";

const folder = "keyhole-grammar";

afterAll(async () => {
  const top = await navigator.storage.getDirectory();
  await top.removeEntry(folder, { recursive: true }).catch(() => {});
});

describeGrammar("OPFS", () => opfsStore({ folder }));
