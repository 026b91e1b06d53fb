import type { JsonObject } from "@keyhole/kernel";
import { type AgentKernel, type AgentOptions, type AgentTool, agentTools, argumentsOf } from "./agent-tools.ts";
import { acceptedBy, openAiRule } from "./provider-rules.ts";

export type { AgentKernel, AgentOptions };

/** A tool for `client.chat.completions.runTools` of OpenAI's SDK. */
export interface OpenAiRunnableTool {
  type: "function";
  function: {
    name: string;
    description: string;
    parameters: JsonObject;
    function: (input: string) => Promise<string>;
  };
}

/**
 * The kernel's tools for `runTools` of OpenAI's SDK. The runner has no approvals: the kernel's own approver answers where the policy asks. Errors reach the model as
 * JSON.
 *
 * @param options `signal` ends the calls that run; the runner has no signal for its tools.
 * @throws TypeError for a name in `options.tools` that the kernel does not list, and for a schema that the provider refuses
 * @example
 * const runner = client.chat.completions.runTools({ model, messages, tools: await openAiTools(kernel) });
 */
export async function openAiTools(
  kernel: AgentKernel,
  options: AgentOptions & { readonly signal?: AbortSignal } = {},
): Promise<OpenAiRunnableTool[]> {
  const tools = await agentTools(kernel, options, { signal: true });
  return acceptedBy(openAiRule, tools).map((tool) => openAiTool(tool, options.signal));
}

function openAiTool(tool: AgentTool, signal: AbortSignal | undefined): OpenAiRunnableTool {
  const { name, description, inputSchema } = tool;
  const run = async (input: string): Promise<string> => (await tool.call(argumentsOf(input), { signal })).text;
  return { type: "function", function: { name, description, parameters: inputSchema, function: run } };
}
