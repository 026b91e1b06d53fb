import { openAiAgentsTools } from "@keyhole/agents/openai-agents";
import { createKernel, defineTool } from "@keyhole/kernel";
import { Agent, type Model, run } from "@openai/agents";

const wordCount = defineTool({
  name: "word_count",
  version: "1.0.0",
  description: "Counts the words of a text.",
  input: { type: "object", properties: { text: { type: "string" } }, required: ["text"], additionalProperties: false },
  output: { kind: "json" },
  execute: ({ text }) => ({ words: text.split(/\s+/).filter(Boolean).length }),
});
const kernel = await createKernel({ policy: { version: "1", posture: "standard" } });
kernel.registerTrusted(wordCount);

export async function answer(model: string | Model, prompt: string): Promise<string> {
  const tools = await openAiAgentsTools(kernel, { caller: "agent" });
  const agent = new Agent({ name: "Clerk", model, tools });
  return (await run(agent, prompt)).finalOutput ?? "";
}
