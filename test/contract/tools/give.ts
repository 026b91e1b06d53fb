import { defineTool } from "@keyhole/kernel";
import { doDeed } from "./bytes-deeds.ts";

export default defineTool({
  name: "give",
  version: "1.0.0",
  description: "Gives its bytes away with their memory.",
  determinism: "external",
  bounds: { outputBytes: 1_000_000 },
  input: { type: "object", properties: { deed: { type: "string" }, length: { type: "integer" } }, required: ["deed"] },
  output: { kind: "binary", transfer: true },
  execute: doDeed,
});
