import type { ToolSummary } from "@keyhole/kernel";

const names = new Set<string>();

/** Keeps the names of an edge's tools until a reload: a person knows them from there. */
export function noteEdge(tools: readonly ToolSummary[]): void {
  for (const { manifest } of tools) names.add(manifest.name);
}

export function isOfEdge(name: string): boolean {
  return names.has(name);
}
