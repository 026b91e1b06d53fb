import type { ToolSummary } from "@keyhole/kernel";

export interface ToolGroup {
  readonly name: string;
  readonly tools: readonly ToolSummary[];
}

/** Beginnings of capability kinds, and how a person calls what they reach. */
const reaches: readonly (readonly [RegExp, string])[] = [
  [/^net\b/, "Network"],
  [/^fs\b/, "Files"],
  [/^(?:kv|db)\b/, "Data"],
  [/^(?:tool|process)\b/, "Code"],
];

const order = ["Network", "Files", "Data", "Code", "Other", "Pure"];

/** Tools by what they reach, each group in the order in which they came. */
export function groupsOf(tools: readonly ToolSummary[]): readonly ToolGroup[] {
  const groups = new Map<string, ToolSummary[]>(order.map((name) => [name, []]));
  for (const tool of tools) groups.get(groupOf(tool))?.push(tool);
  return [...groups].filter(([, some]) => some.length > 0).map(([name, some]) => ({ name, tools: some }));
}

function groupOf({ manifest: { capabilities, body } }: ToolSummary): string {
  if (capabilities.length === 0) return body === undefined ? "Pure" : "Files";
  return reaches.find(([begin]) => capabilities.some(({ kind }) => begin.test(kind)))?.[1] ?? "Other";
}
