import { defineTool } from "@keyhole/kernel/tool";

/** Does no harm, and wants its answer in time whatever others do. */
export default defineTool({
  name: "bystander",
  version: "1.0.0",
  description: "Returns its message.",
  determinism: "external",
  bounds: { callsPerHour: 1_000_000 },
  input: { type: "object", properties: { message: { type: "string" } }, required: ["message"] } as const,
  output: { kind: "text" },
  execute: ({ message }) => message,
});
