import { defineTool } from "@keyhole/kernel/tool";
import * as z from "zod";

const path = z.string().refine((text) => !text.includes(".."), "The path leaves the folder.");

export default defineTool({
  name: "zod",
  version: "1.0.0",
  description: "Takes a path.",
  input: z.object({ path }),
  output: { kind: "json" },
  execute: (input) => input,
});
