import { createKernel, type ToolSummary } from "@keyhole/kernel";
import { nodeHost } from "@keyhole/worker-host/node";
import { pageTools } from "../packages/playground/src/kernel/page-tools.ts";

/** The page's tools as its kernel lists them. Runs while the page is built: see the plugin of that name. */
export async function summaries(): Promise<readonly ToolSummary[]> {
  const kernel = await createKernel({
    host: nodeHost(),
    policy: { version: "1", posture: "strict", grants: [], rules: [] },
  });
  for (const tool of pageTools()) {
    const registered = kernel.register(tool);
    if (!registered.ok) throw new Error(`${tool.manifest.name}: ${registered.error.message}`);
  }
  const listed = kernel.list();
  await kernel.close();
  return listed;
}
