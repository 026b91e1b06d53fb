import { defineTool } from "@keyhole/kernel/tool";

export default defineTool({
  name: "handed_over",
  version: "1.0.0",
  description: "Gives bytes as a whole, with their memory.",
  bounds: { callsPerHour: 1_000_000, outputBytes: 10_000_000 },
  input: { type: "object", properties: { length: { type: "integer" } }, required: ["length"] },
  output: { kind: "binary", transfer: true },
  execute: ({ length }) => new Uint8Array(length).fill(7),
});
