import type { JsonObject } from "@keyhole/kernel";
import { type AgentKernel, type AgentOptions, agentTools, argumentsOf } from "./agent-tools.ts";

export type { AgentKernel, AgentOptions };

/** A tool of Chrome's Prompt API. */
export interface PromptApiTool {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: JsonObject;
  execute(input: unknown): Promise<string>;
}

/**
 * The kernel's tools for the Prompt API of Chrome. The API has no approvals: the kernel's own approver answers where the policy asks. Errors reach the model as JSON.
 *
 * @param options `signal` ends the calls that run; the API has no signal for its tools.
 * @throws TypeError for a name in `options.tools` that the kernel does not list
 * @example
 * const session = await LanguageModel.create({ tools: await promptApiTools(kernel) });
 */
export async function promptApiTools(
  kernel: AgentKernel,
  options: AgentOptions & { readonly signal?: AbortSignal } = {},
): Promise<PromptApiTool[]> {
  const { signal } = options;
  return (await agentTools(kernel, options, { signal: true })).map((tool) => {
    const { name, description, inputSchema } = tool;
    const execute = async (input: unknown): Promise<string> => (await tool.call(argumentsOf(input), { signal })).text;
    return { name, description, inputSchema, execute };
  });
}
