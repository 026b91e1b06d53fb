import { promptApiTools } from "@keyhole/agents/prompt-api";
import { createKernel, defineTool } from "@keyhole/kernel";

declare const LanguageModel: {
  create(options: object): Promise<{ prompt(text: string): Promise<string> }>;
};

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

export async function answer(prompt: string): Promise<string> {
  const session = await LanguageModel.create({ tools: await promptApiTools(kernel, { caller: "agent" }) });
  return session.prompt(prompt);
}
