import { aiSdkTools } from "@keyhole/agents/ai-sdk";
import { createKernel, defineTool } from "@keyhole/kernel";
import { generateText, isStepCount, type LanguageModel } from "ai";

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

export async function answer(model: LanguageModel, prompt: string): Promise<string> {
  const tools = await aiSdkTools(kernel, { caller: "agent" });
  const { text } = await generateText({ model, prompt, stopWhen: isStepCount(5), ...tools });
  return text;
}
