import type { JsonObject } from "@keyhole/kernel";
import type { AgentAnswer } from "./answer.ts";
import { type AgentKernel, type AgentOptions, type AgentTool, agentTools } from "./agent-tools.ts";

export type { AgentAnswer, AgentKernel, AgentOptions };

interface RunConfig {
  readonly signal?: AbortSignal;
}

interface Fields {
  readonly name: string;
  readonly description: string;
  readonly schema: JsonObject;
  readonly responseFormat: "content_and_artifact";
}

/** `tool` of `@langchain/core/tools`. */
export type ToolFactory<Made> = (
  run: (input: unknown, config?: RunConfig) => Promise<[string, AgentAnswer]>,
  fields: Fields,
) => Made;

/**
 * The kernel's tools for LangChain. The model reads the text of an answer; the answer with its data, digest and error is the artifact of the tool message. LangChain's
 * tools have no approvals: the kernel's own approver answers where the policy asks.
 *
 * @param tool `tool` of `@langchain/core/tools`
 * @throws TypeError for a name in `options.tools` that the kernel does not list
 * @example
 * const agent = createAgent({ model, tools: await langChainTools(kernel, tool) });
 */
export async function langChainTools<Made>(
  kernel: AgentKernel,
  tool: ToolFactory<Made>,
  options: AgentOptions = {},
): Promise<Made[]> {
  return (await agentTools(kernel, options)).map((each) => langChainTool(each, tool));
}

function langChainTool<Made>(own: AgentTool, tool: ToolFactory<Made>): Made {
  const { name, description, inputSchema: schema } = own;
  const run = async (input: unknown, { signal }: RunConfig = {}): Promise<[string, AgentAnswer]> => {
    const answer = await own.call(input, { signal });
    return [answer.text, answer];
  };
  return tool(run, { name, description, schema, responseFormat: "content_and_artifact" });
}
