import { defineTool } from "@keyhole/kernel/tool";

export default defineTool({
  name: "echo",
  version: "1.0.0",
  title: "Echo",
  description: "Returns the message unchanged. Use it to check that tools can be called at all.",
  category: "diagnostics",
  determinism: "pure",
  tier: 0,
  risk: "low",
  idempotent: true,
  input: {
    type: "object",
    properties: { message: { type: "string", description: "Any text.", maxLength: 65_536 } },
    required: ["message"],
    additionalProperties: false,
    examples: [{ message: "Hello, world!" }],
  },
  output: {
    kind: "json",
    schema: {
      type: "object",
      properties: { message: { type: "string" } },
      required: ["message"],
      additionalProperties: false,
    },
  },
  execute: ({ message }) => ({ message }),
});
