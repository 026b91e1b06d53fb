import { resolve } from "node:path";
import { serveMcpStdio } from "@keyhole/mcp/node";
import { fileSink } from "@keyhole/worker-host/node";
import { openApprovalPage } from "./approvals.ts";
import { openKernel } from "./kernel.ts";

// Standard output belongs to the protocol: nothing else may write to it.
const folder = resolve(import.meta.dirname, "..");
const page = await openApprovalPage();
const sink = fileSink(resolve(folder, "audit.jsonl"));
const kernel = await openKernel({ approver: page.approver, files: resolve(folder, "workspace"), sink });
console.error(`Approvals: ${page.url}`);
serveMcpStdio(kernel, {
  caller: { caller: "agent" },
  onEnd() {
    page.close();
    void kernel.close();
  },
});
