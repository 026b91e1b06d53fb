import {
  type Bounds,
  ceilings,
  defineTool,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  type Tier,
  type Tool,
} from "@keyhole/kernel";
import { boundsOf, definitionText, type ForeignCall, tierOf, type ToolPin } from "@keyhole/kernel/foreign-tools";
import { mcpOutputType, structuredContentId } from "../mcp-output.ts";
import type { McpSourceOptions } from "./options.ts";

/** A server's word that a tool destroys raises its tier. */
function hintedTier({ definition }: ToolPin): Tier {
  const annotations = definition["annotations"] as JsonObject | undefined;
  const isDestructive = typeof annotations === "object" && annotations?.["destructiveHint"] === true;
  return isDestructive ? 3 : 2;
}

/** The bounds of each tool of a server. Over the network `resultBytes` bounds a result, and a policy can lower the rest. */
export function sourceBounds(options: McpSourceOptions): Partial<Bounds> {
  const isRemote = options.server.effects.some((effect) => effect.startsWith("net."));
  const { networkBytes, networkRequests } = ceilings;
  return { ...boundsOf(options), ...(isRemote && { networkBytes, networkRequests }) };
}

/** A tool of a server as a tool of the kernel. Its version has the end of the definition's digest: another definition is another tool. */
export function sourceTool(
  name: string,
  pin: ToolPin,
  options: McpSourceOptions,
  call: ForeignCall,
): Tool<never, unknown> {
  const { definition, hash, tool } = pin;
  const title = definitionText(definition["title"], 100) ?? tool.slice(0, 100);
  const { server, tiers = {} } = options;
  return toolOf({
    name,
    version: `1.0.0+${hash.slice(-16)}`,
    ...(title !== "" && { title }),
    description:
      definitionText(definition["description"], 4_000) ?? `The tool ${name} of an MCP server, without a description.`,
    category: "mcp",
    determinism: "external",
    tier: tierOf(tool, tiers, hintedTier(pin)),
    effects: [...server.effects],
    capabilities: [...server.capabilities],
    needs: server.needs,
    bounds: sourceBounds(options),
    input: definition["inputSchema"] ?? { type: "object" },
    output: { kind: "json", mediaType: mcpOutputType, schema: contentSchema(definition["outputSchema"]) },
    execute: call,
  });
}

/** The kernel reads the definition when the tool is registered: a schema can be the server's. */
export function toolOf(definition: object): Tool<never, unknown> {
  return defineTool(definition as Parameters<typeof defineTool>[0]);
}

/** The form of a result, with the server's own schema for its structured part. */
function contentSchema(structured: JsonValue | undefined): JsonObject {
  const content = { type: "array" };
  if (!isJsonObject(structured)) return { type: "object", properties: { content }, required: ["content"] };
  // A resource of its own: its references are resolved within it.
  const structuredContent = { $id: structuredContentId, ...structured };
  return { type: "object", properties: { content, structuredContent }, required: ["content", "structuredContent"] };
}
