import { defineTool } from "@keyhole/kernel/tool";

export default defineTool({
  name: "ramp",
  version: "1.0.0",
  description: "Gives bytes that count up.",
  input: {
    type: "object",
    properties: { length: { type: "integer", minimum: 0, maximum: 1_000_000 } },
    required: ["length"],
  },
  output: { kind: "binary" },
  execute: ({ length }) => Uint8Array.from({ length }, (_, i) => i & 255),
});
