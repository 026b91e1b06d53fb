import { langChainTools } from "@keyhole/agents/langchain";
import { createKernel, defineTool } from "@keyhole/kernel";
import { tool } from "@langchain/core/tools";
import { createAgent } from "langchain";

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

export async function answer(model: Parameters<typeof createAgent>[0]["model"], prompt: string): Promise<string> {
  const agent = createAgent({ model, tools: await langChainTools(kernel, tool, { caller: "agent" }) });
  const { messages } = await agent.invoke({ messages: [{ role: "user", content: prompt }] });
  return String(messages.at(-1)?.content);
}
