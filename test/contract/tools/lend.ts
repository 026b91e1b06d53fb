import { defineTool } from "@keyhole/kernel";
import { doDeed } from "./bytes-deeds.ts";

export default defineTool({
  name: "lend",
  version: "1.0.0",
  description: "Gives copies of its bytes.",
  determinism: "external",
  bounds: { outputBytes: 1_000_000 },
  input: { type: "object", properties: { deed: { type: "string" }, length: { type: "integer" } }, required: ["deed"] },
  output: { kind: "binary" },
  execute: doDeed,
});
