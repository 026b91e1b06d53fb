import { defineTool } from "@keyhole/kernel/tool";

// A pure tool: the result depends on the input alone, so the policy grants it nothing.
export default defineTool({
  name: "word_count",
  version: "1.0.0",
  description: "Counts the words of a text.",
  input: {
    type: "object",
    properties: { text: { type: "string", maxLength: 10_000 } },
    required: ["text"],
    additionalProperties: false,
  },
  output: { kind: "json", schema: { type: "object", properties: { words: { type: "integer" } }, required: ["words"] } },
  execute: ({ text }) => ({ words: text.split(/\s+/).filter((word) => word !== "").length }),
});
