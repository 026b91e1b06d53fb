import { defineTool } from "@keyhole/kernel";
import { bytesTool } from "./bytes-deeds.ts";

export default defineTool({
  ...bytesTool,
  name: "lend",
  description: "Gives copies of its bytes.",
  output: { kind: "binary" },
});
