import { AgentRun } from "@keyhole/agents/agent-run";
import { createKernel, defineTool } from "@keyhole/kernel";
import { type LanguageModel, type ModelMessage, streamText } from "ai";

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
  const run = new AgentRun<ModelMessage>({
    kernel,
    caller: "agent",
    budget: { tokens: 20_000, fuel: 50_000_000, calls: 25 },
    ask: (request) => streamText({ model, ...request }),
  });
  let said = "";
  for await (const part of run.send({ role: "user", content: prompt })) if (part.type === "text") said += part.text;
  return said;
}
