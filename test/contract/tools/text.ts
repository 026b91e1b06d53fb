import { defineTool } from "@keyhole/kernel/tool";

export default defineTool({
  name: "spell",
  version: "1.0.0",
  description: "Spells the code points of a text, one a line.",
  input: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
  output: { kind: "text" },
  execute: ({ text }) =>
    Array.from(text, (point) => `U+${point.codePointAt(0)!.toString(16).toUpperCase().padStart(4, "0")}`).join("\n"),
});
