import type { JsonObject, ToolManifest } from "@keyhole/kernel";

/** The media type of a `json` output that is content of MCP: `{ content: […], structuredContent? }`. A client gets it as it is. */
export const mcpOutputType = "application/vnd.keyhole.mcp-content+json";

/** The schema of a structured output, as a client of MCP is shown it. */
export function outputSchemaOf({ output }: Pick<ToolManifest, "output">): JsonObject | undefined {
  if (output.kind !== "json" || output.mediaType !== mcpOutputType) return output.schema;
  const properties = output.schema?.["properties"] as JsonObject | undefined;
  return properties?.["structuredContent"] as JsonObject | undefined;
}
