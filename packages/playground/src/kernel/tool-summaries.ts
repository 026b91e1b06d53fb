import type { ToolSummary } from "@keyhole/kernel";

/** The tools that the page's kernel lists after its start. The build writes it: see the plugin of this name. Without the plugin nothing is known before. */
export const toolSummaries: readonly ToolSummary[] = [];
