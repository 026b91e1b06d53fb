import { nodeHost } from "@keyhole/worker-host/node";
import { wasmHost } from "@keyhole/worker-host/wasm";
import { describeWasmHost } from "./tools.shared.ts";

describeWasmHost("a thread of Node", async () => nodeHost(), true);
describeWasmHost("this thread, with its stack put aside", async () => wasmHost({ waiting: "stack" }));
describeWasmHost("this thread, run again", async () => wasmHost({ waiting: "replay" }));
