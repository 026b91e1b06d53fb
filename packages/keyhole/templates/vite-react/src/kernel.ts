import { keyholeWorker, type KernelClient } from "@keyhole/worker-host/browser";
import { askInPage } from "./approvals.ts";

/** The kernel in its worker. Rejects with `KernelUnavailable`, which says why no kernel started. */
export const kernel: Promise<KernelClient> = keyholeWorker(
  new Worker(new URL("./kernel.worker.ts", import.meta.url), { type: "module" }),
  { approver: askInPage },
);
kernel.catch(() => {}); // Each use reports it.

/** Saves the audit log as a file that `keyhole verify` reads. */
export async function saveLog(): Promise<void> {
  const events = await (await kernel).audit.read();
  const lines = events.map((event) => `${JSON.stringify(event)}\n`);
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob(lines));
  link.download = "audit.jsonl";
  link.click();
  URL.revokeObjectURL(link.href);
}
