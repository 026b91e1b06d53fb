import { defineTool } from "@keyhole/kernel/tool";

export default defineTool({
  name: "bytes",
  version: "1.0.0",
  description: "Gives bytes as a whole.",
  bounds: { callsPerHour: 1_000_000, outputBytes: 10_000_000 },
  input: { type: "object", properties: { length: { type: "integer" } }, required: ["length"] },
  output: { kind: "binary" },
  execute: ({ length }) => new Uint8Array(length).fill(7),
});
