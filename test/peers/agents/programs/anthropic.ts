import type Anthropic from "@anthropic-ai/sdk";
import { anthropicTools } from "@keyhole/agents/anthropic";
import { createKernel, defineTool } from "@keyhole/kernel";

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

export async function answer(client: Anthropic, model: string, prompt: string): Promise<string> {
  const tools = await anthropicTools(kernel, { caller: "agent" });
  const messages = [{ role: "user" as const, content: prompt }];
  const runner = client.beta.messages.toolRunner({ model, max_tokens: 1_024, messages, tools });
  const { content } = await runner;
  return content.map((block) => (block.type === "text" ? block.text : "")).join("");
}
