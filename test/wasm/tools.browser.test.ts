import { wasmHost } from "@keyhole/worker-host/wasm";
import { describeWasmHost } from "./tools.shared.ts";

describeWasmHost("this thread", async () => wasmHost());
describeWasmHost("this thread, run again", async () => wasmHost({ waiting: "replay" }));
