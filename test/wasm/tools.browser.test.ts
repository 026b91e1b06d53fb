import { browserHost } from "@keyhole/worker-host/browser";
import { wasmHost } from "@keyhole/worker-host/wasm";
import { describeWasmHost } from "./tools.shared.ts";

describeWasmHost("a worker in a frame", () => browserHost(), true);
describeWasmHost("this thread", async () => wasmHost());
describeWasmHost("this thread, run again", async () => wasmHost({ waiting: "replay" }));
