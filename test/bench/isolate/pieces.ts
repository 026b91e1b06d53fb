import { defineTool } from "@keyhole/kernel/tool";

export default defineTool({
  name: "pieces",
  version: "1.0.0",
  description: "Gives bytes as a stream, in pieces of 250 KB.",
  bounds: { callsPerHour: 1_000_000, outputBytes: 10_000_000 },
  input: { type: "object", properties: { length: { type: "integer" } }, required: ["length"] },
  output: { kind: "stream" },
  *execute({ length }) {
    for (let at = 0; at < length; at += 250_000) yield new Uint8Array(Math.min(250_000, length - at)).fill(7);
  },
});
