import { browserHost } from "@keyhole/worker-host/browser";
import { wasmHost } from "@keyhole/worker-host/wasm";
import { stopsModules, wholeIn } from "../support/browser-part.ts";
import { describeWasmHost } from "./tools.shared.ts";

const part = wholeIn("chromium");
describeWasmHost("a worker in a frame", () => browserHost(), { preempts: stopsModules, part });
// Node has the whole of these two: test/wasm/tools.test.ts.
describeWasmHost("this thread", async () => wasmHost(), { preempts: false, part: "engine" });
describeWasmHost("this thread, run again", async () => wasmHost({ waiting: "replay" }), {
  preempts: false,
  part: "engine",
});
