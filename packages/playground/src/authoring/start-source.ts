/** The source of a new screen: a complete tool, to change. */
export const startSource = `import { defineTool } from "@keyhole/kernel/tool";

export default defineTool({
  name: "word_count",
  version: "0.1.0",
  description: "Counts the words of a text.",
  tier: 0,
  effects: [],
  determinism: "pure",
  capabilities: [],
  input: {
    type: "object",
    properties: { text: { type: "string", description: "The text whose words are counted." } },
    required: ["text"],
    additionalProperties: false,
    examples: [{ text: "Grants narrow. They never widen." }],
  },
  output: { kind: "json" },
  execute({ text }, { log }) {
    const words = text.split(/\\s+/).filter((word) => word !== "");
    log(\`\${words.length} words\`);
    return { words: words.length };
  },
});
`;
