import type { JsonObject, ToolManifest } from "@keyhole/kernel";

/** The media type of a `json` output that is content of MCP: `{ content: […], structuredContent? }`. A client gets it as it is. */
export const mcpOutputType = "application/vnd.keyhole.mcp-content+json";

/** Makes the server's schema a resource of its own within ours, so that its references are resolved there. No client sees it: two tools with one `$id` are one schema to many validators. */
export const structuredContentId = "urn:keyhole:structured-content";

/** The schema of a structured output, for a client of MCP. */
export function outputSchemaOf({ output }: Pick<ToolManifest, "output">): JsonObject | undefined {
  if (output.kind !== "json" || output.mediaType !== mcpOutputType) return output.schema;
  const properties = output.schema?.["properties"] as JsonObject | undefined;
  const schema = properties?.["structuredContent"] as JsonObject | undefined;
  if (schema?.["$id"] !== structuredContentId) return schema;
  const { $id: _, ...own } = schema;
  return own;
}
