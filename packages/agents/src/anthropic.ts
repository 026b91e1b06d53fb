import type { JsonObject } from "@keyhole/kernel";
import { encodeBase64 } from "@keyhole/kernel/context";
import { type AgentKernel, type AgentOptions, type AgentTool, agentTools, argumentsOf } from "./agent-tools.ts";
import { acceptedBy, anthropicRule } from "./provider-rules.ts";

export type { AgentKernel, AgentOptions };

type ImageType = "image/png" | "image/jpeg" | "image/gif" | "image/webp";

/** An image of a tool result, or its text. */
export type AnthropicContent =
  | { type: "text"; text: string }
  | { type: "image"; source: { type: "base64"; media_type: ImageType; data: string } };

/** A tool for the tool runner of Anthropic's SDK. */
export interface AnthropicRunnableTool {
  readonly name: string;
  readonly description: string;
  readonly input_schema: JsonObject & { type: "object" };
  run(
    input: unknown,
    context?: { readonly signal?: AbortSignal | null | undefined },
  ): Promise<string | AnthropicContent[]>;
  parse(content: unknown): unknown;
}

const imageTypes: readonly unknown[] = ["image/png", "image/jpeg", "image/gif", "image/webp"] satisfies ImageType[];

/**
 * The kernel's tools for the tool runner of Anthropic's SDK. The runner has no approvals: the kernel's own approver answers where the policy asks. Errors reach the
 * model as JSON.
 *
 * @throws TypeError for a name in `options.tools` that the kernel does not list, and for a schema that the provider refuses
 * @example
 * const message = await client.beta.messages.toolRunner({ model, max_tokens, messages, tools: await anthropicTools(kernel) });
 */
export async function anthropicTools(
  kernel: AgentKernel,
  options: AgentOptions = {},
): Promise<AnthropicRunnableTool[]> {
  return acceptedBy(anthropicRule, await agentTools(kernel, options)).map(anthropicTool);
}

function anthropicTool(tool: AgentTool): AnthropicRunnableTool {
  const { name, description, inputSchema } = tool;
  return {
    name,
    description,
    input_schema: inputSchema as AnthropicRunnableTool["input_schema"],
    async run(input, { signal } = {}) {
      const answer = await tool.call(input, { signal: signal ?? undefined });
      if (!answer.ok || !(answer.data instanceof Uint8Array) || !answer.text.includes('"base64"')) return answer.text;
      const { mediaType, data } = answer;
      if (!imageTypes.includes(mediaType)) return answer.text;
      return [
        { type: "image", source: { type: "base64", media_type: mediaType as ImageType, data: encodeBase64(data) } },
      ];
    },
    parse: argumentsOf,
  };
}
