import type { JsonObject } from "@keyhole/kernel";
import { type AgentKernel, type AgentOptions, type AgentTool, agentTools, argumentsOf } from "./agent-tools.ts";
import { acceptedBy, openAiRule } from "./provider-rules.ts";

export type { AgentKernel, AgentOptions };

interface RunContext {
  isToolApproved(call: { toolName: string; callId: string }): boolean | undefined;
}

/** A function tool of OpenAI Agents JS. `strict` is off: strict mode takes only a part of JSON Schema, and the kernel checks the rest. */
export interface OpenAiAgentsTool {
  readonly type: "function";
  readonly name: string;
  readonly description: string;
  // The framework's type has mutable members.
  readonly parameters: JsonObject & {
    type: "object";
    properties: Record<string, never>;
    required: string[];
    additionalProperties: true;
  };
  readonly strict: false;
  invoke(
    runContext: RunContext,
    input: string,
    details?: { readonly toolCall?: { readonly callId: string }; readonly signal?: AbortSignal },
  ): Promise<string>;
  needsApproval(runContext: unknown, input: unknown, callId?: string): Promise<boolean>;
  isEnabled(): Promise<boolean>;
}

/**
 * The kernel's tools for OpenAI Agents JS. A call about which the policy asks interrupts the run (`result.interruptions`); every other decision is the kernel's, and its
 * errors reach the model as JSON.
 *
 * @throws TypeError for a name in `options.tools` that the kernel does not list, and for a schema that the provider refuses
 * @example
 * const agent = new Agent({ name: "Clerk", tools: await openAiAgentsTools(kernel) });
 */
export async function openAiAgentsTools(kernel: AgentKernel, options: AgentOptions = {}): Promise<OpenAiAgentsTool[]> {
  return acceptedBy(openAiRule, await agentTools(kernel, options)).map(openAiAgentsTool);
}

function openAiAgentsTool(tool: AgentTool): OpenAiAgentsTool {
  const { name, description, inputSchema } = tool;
  return {
    type: "function",
    name,
    description,
    parameters: inputSchema as OpenAiAgentsTool["parameters"],
    strict: false,
    async invoke(runContext, input, { toolCall, signal } = {}) {
      const callId = toolCall?.callId;
      const approved = callId !== undefined && isApproved(runContext, name, callId) ? "asked" : undefined;
      return (await tool.call(argumentsOf(input), { id: callId, signal, approved })).text;
    },
    needsApproval: async (_, input, callId) => (await tool.question(argumentsOf(input), callId)) !== undefined,
    isEnabled: async () => true,
  };
}

/** A standing approval of any arguments answers no request: an id that no call has would have it too. */
function isApproved(context: RunContext, toolName: string, callId: string): boolean {
  const isForAlways = context.isToolApproved({ toolName, callId: crypto.randomUUID() }) === true;
  return !isForAlways && context.isToolApproved({ toolName, callId }) === true;
}
