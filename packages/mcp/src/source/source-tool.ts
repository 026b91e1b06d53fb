import {
  type Bounds,
  defineTool,
  type JsonObject,
  type JsonValue,
  type Tier,
  type Tool,
  type ToolContext,
} from "@keyhole/kernel";
import { mcpOutputType } from "../mcp-output.ts";
import type { McpSourceOptions } from "./options.ts";
import type { McpPin } from "./pins.ts";

const RESULT_BYTES = 4_194_304;
const TIMEOUT_MS = 60_000;
const CALLS_PER_HOUR = 10_000;
const CONCURRENCY = 16;

/** The bounds of each tool of a source. */
export function boundsOf({
  timeoutMs = TIMEOUT_MS,
  resultBytes = RESULT_BYTES,
  callsPerHour = CALLS_PER_HOUR,
}: McpSourceOptions): Required<Pick<Bounds, "timeoutMs" | "outputBytes" | "callsPerHour" | "concurrency">> {
  return { timeoutMs, outputBytes: resultBytes, callsPerHour, concurrency: CONCURRENCY };
}

/** The program sets the tier of a tool. Without that a hint can raise it, and none can lower it. */
function tierOf({ definition, tool }: McpPin, tiers: Readonly<Record<string, Tier>>): Tier {
  if (Object.hasOwn(tiers, tool)) return tiers[tool]!;
  const annotations = definition["annotations"] as JsonObject | undefined;
  const isDestructive = typeof annotations === "object" && annotations?.["destructiveHint"] === true;
  return isDestructive ? 3 : 2;
}

export type SourceCall = (input: JsonObject, context: ToolContext) => Promise<JsonValue>;

/** A tool of a server as a tool of the kernel. Its version has the end of the definition's digest: another definition is another tool. */
export function sourceTool(
  name: string,
  { definition, hash, tool }: McpPin,
  options: McpSourceOptions,
  call: SourceCall,
): Tool<never, unknown> {
  const title = textOf(definition["title"], 100) ?? tool.slice(0, 100);
  const { server, tiers = {} } = options;
  return defineTool({
    name,
    version: `1.0.0+${hash.slice(-16)}`,
    ...(title !== "" && { title }),
    description:
      textOf(definition["description"], 4_000) ?? `The tool ${name} of an MCP server, without a description.`,
    category: "mcp",
    determinism: "external",
    tier: tierOf({ definition, hash, tool }, tiers),
    effects: [...server.effects],
    capabilities: [...server.capabilities],
    bounds: boundsOf(options),
    input: definition["inputSchema"] ?? { type: "object" },
    output: { kind: "json", mediaType: mcpOutputType, schema: contentSchema(definition["outputSchema"]) },
    execute: call,
    // The schemas are the server's: the kernel reads them when the tool is registered.
  } as unknown as Parameters<typeof defineTool>[0]);
}

/** The form of a result, with the server's own schema for its structured part. */
function contentSchema(structured: JsonValue | undefined): JsonObject {
  const content = { type: "array" };
  if (!isObject(structured)) return { type: "object", properties: { content }, required: ["content"] };
  // A resource of its own: its references are resolved within it.
  const structuredContent = { $id: "urn:keyhole:structured-content", ...structured };
  return { type: "object", properties: { content, structuredContent }, required: ["content", "structuredContent"] };
}

function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function textOf(value: JsonValue | undefined, mostLength: number): string | undefined {
  return typeof value === "string" && value !== "" ? value.slice(0, mostLength).toWellFormed() : undefined;
}
