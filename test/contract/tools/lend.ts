import { defineTool } from "@keyhole/kernel/tool";
import { bytesTool } from "./bytes-deeds.ts";

export default defineTool({
  ...bytesTool,
  name: "lend",
  description: "Gives copies of its bytes.",
  output: { kind: "binary" },
});
