import { exposeToPage } from "@keyhole/agents/webmcp";
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

const exposed = await exposeToPage(kernel, { caller: "page" });
addEventListener("pagehide", () => exposed.close());
