import { defineTool } from "@keyhole/kernel/tool";

/** Its tier makes the standard posture ask. */
export default defineTool({
  name: "asking",
  version: "1.0.0",
  description: "Gives the amount back, once somebody approved it.",
  tier: 2,
  input: { type: "object", properties: { amount: { type: "number" } }, required: ["amount"] },
  output: { kind: "json" },
  execute: ({ amount }) => amount,
});
