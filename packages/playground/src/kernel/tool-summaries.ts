import type { ToolSummary } from "@keyhole/kernel";

/** The tools that the page's kernel lists after its start. The build writes it: see the plugin of this name. Without the plugin the page has no summaries at its start. */
export const toolSummaries: readonly ToolSummary[] = [];
