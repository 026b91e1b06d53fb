import { manifestOf, type mcpTool } from "@keyhole/kernel";
import { echo, toolOf } from "../support/kernel.ts";

export const manifest = manifestOf(echo, "module");
export const writer = manifestOf(
  toolOf(() => null, {
    title: "Writes",
    determinism: "external",
    effects: ["net.write"],
    capabilities: [{ kind: "net.write", hosts: ["*"] }],
  }),
  "module",
);

type McpTool = ReturnType<typeof mcpTool>;

/** Definitions that no MCP client takes. */
export function wrongTools(tool: McpTool): unknown[] {
  const { name: _, ...unnamed } = tool;
  const { inputSchema: __, ...withoutInput } = tool;
  return [
    unnamed,
    withoutInput,
    { ...tool, title: 1 },
    { ...tool, description: null },
    { ...tool, inputSchema: { type: "array" } },
    { ...tool, outputSchema: { type: "string" } },
    { ...tool, annotations: { readOnlyHint: "yes" } },
  ];
}
