import { defineTool } from "@keyhole/kernel/tool";

export default defineTool({
  name: "swallow",
  version: "1.0.0",
  description: "Reads its body, and says how long it was.",
  bounds: { callsPerHour: 1_000_000, bodyBytes: 10_000_000 },
  input: { type: "object" },
  body: {},
  output: { kind: "json" },
  async execute(_, { body }) {
    let length = 0;
    for await (const piece of body) length += piece.length;
    return length;
  },
});
