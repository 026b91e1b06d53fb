import { nodeHost } from "@keyhole/worker-host/node";
import { wasmHost } from "@keyhole/worker-host/wasm";
import { describeWasmHost } from "./tools.shared.ts";

describeWasmHost("a thread of Node", async () => nodeHost(), { preempts: true });
describeWasmHost("this thread, with its stack put aside", async () => wasmHost({ waiting: "stack" }), {
  preempts: false,
});
describeWasmHost("this thread, run again", async () => wasmHost({ waiting: "replay" }), { preempts: false });
