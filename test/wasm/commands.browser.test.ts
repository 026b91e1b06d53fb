import { browserHost } from "@keyhole/worker-host/browser";
import { stopsModules, wholeIn } from "../support/browser-part.ts";
import { describeCommands } from "./commands.shared.ts";

// WebKitGTK writes files in workers only.
const stores = typeof FileSystemFileHandle === "function" && "createWritable" in FileSystemFileHandle.prototype;

describeCommands("frames", {
  open: (options) => browserHost(options),
  preempts: stopsModules,
  part: wholeIn("chromium"),
  stores,
});
