import type { Kernel } from "@keyhole/kernel";
import type { McpSource } from "@keyhole/mcp";
import { visible } from "../io.ts";

/** Says which server no call can reach: its client would only see that it has no tools. */
export function hiddenNote(kernel: Kernel, caller: string, name: string, source: McpSource): string {
  const reachable = new Set(kernel.list({ caller }).map(({ manifest }) => manifest.name));
  if (source.tools.length === 0 || source.tools.some((tool) => reachable.has(tool.name))) return "";
  return `The policy lets ${visible(caller)} call no tool of ${name}, so the client sees none. Run this command with --suggest: it prints a policy.\n`;
}
