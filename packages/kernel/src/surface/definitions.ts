import { builtInFamilies } from "../capability/families/index.ts";
import type { JsonObject } from "../json/json.ts";
import { changesWorld, type ToolManifest } from "../tool/manifest.ts";

/**
 * A tool as an MCP server lists it (Model Context Protocol 2025-06-18, `tools/list`). The hints follow from effects and tier: above tier 1 nothing counts as
 * read-only, from tier 3 on everything counts as destructive.
 */
export interface McpTool {
  readonly name: string;
  readonly title?: string;
  readonly description: string;
  readonly inputSchema: JsonObject;
  readonly outputSchema?: JsonObject;
  readonly annotations: {
    readonly title?: string;
    readonly readOnlyHint: boolean;
    readonly destructiveHint: boolean;
    readonly idempotentHint: boolean;
    readonly openWorldHint: boolean;
  };
}

export function mcpTool(manifest: ToolManifest): McpTool {
  const { name, title, description, effects, tier, input, output } = manifest;
  const writes = tier > 1 || effects.some(changesWorld);
  // MCP asks for an object at the top of a structured output.
  const outputSchema = output.schema?.["type"] === "object" ? output.schema : undefined;
  return {
    name,
    ...(title !== undefined && { title }),
    description,
    inputSchema: input,
    ...(outputSchema && { outputSchema }),
    annotations: {
      ...(title !== undefined && { title }),
      readOnlyHint: !writes,
      destructiveHint: writes && (tier > 2 || manifest.idempotent !== true),
      idempotentHint: !writes || manifest.idempotent === true,
      openWorldHint: effects.some((effect) => builtInFamilies.get(effect)?.isLocal !== true),
    },
  };
}

/** A function tool of OpenAI's Responses API. `strict` stays off: strict mode takes only a part of JSON Schema, and the kernel checks the rest. */
export interface OpenAiTool {
  readonly type: "function";
  readonly name: string;
  readonly description: string;
  readonly parameters: JsonObject;
  readonly strict: false;
}

export function openAiTool({ name, description, input }: ToolManifest): OpenAiTool {
  return { type: "function", name, description, parameters: input, strict: false };
}

/** A client tool of Anthropic's Messages API. */
export interface AnthropicTool {
  readonly name: string;
  readonly description: string;
  readonly input_schema: JsonObject;
}

export function anthropicTool({ name, description, input }: ToolManifest): AnthropicTool {
  return { name, description, input_schema: input };
}

/**
 * The parts of an AI SDK tool that a manifest knows. Give `inputSchema` to the SDK's own `jsonSchema()` and add an `execute` that calls the kernel.
 *
 * @example
 * const { description, inputSchema } = aiSdkTool(manifest);
 * tool({ description, inputSchema: jsonSchema(inputSchema), execute: (input) => kernel.call(manifest.name, input) });
 */
export interface AiSdkTool {
  readonly description: string;
  readonly inputSchema: JsonObject;
}

export function aiSdkTool({ description, input }: ToolManifest): AiSdkTool {
  return { description, inputSchema: input };
}
