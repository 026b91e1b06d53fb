import { openAiTools } from "@keyhole/agents/openai";
import { createKernel, defineTool } from "@keyhole/kernel";
import type OpenAI from "openai";

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

export async function answer(client: OpenAI, model: string, prompt: string): Promise<string> {
  const tools = await openAiTools(kernel, { caller: "agent" });
  const messages = [{ role: "user" as const, content: prompt }];
  const runner = client.chat.completions.runTools({ model, messages, tools });
  return (await runner.finalContent()) ?? "";
}
