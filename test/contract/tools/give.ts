import { defineTool } from "@keyhole/kernel/tool";
import { bytesTool } from "./bytes-deeds.ts";

export default defineTool({
  ...bytesTool,
  name: "give",
  description: "Gives its bytes away with their memory.",
  output: { kind: "binary", transfer: true },
});
