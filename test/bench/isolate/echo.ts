import { defineTool, type JsonValue } from "@keyhole/kernel/tool";

export default defineTool({
  name: "echo",
  version: "1.0.0",
  description: "Returns its input.",
  bounds: { callsPerHour: 1_000_000 },
  input: { type: "object", properties: { value: {} }, required: ["value"] },
  output: { kind: "json" },
  execute: ({ value }) => value as JsonValue,
});
