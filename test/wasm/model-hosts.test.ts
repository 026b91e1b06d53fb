import { nodeHost } from "@keyhole/worker-host/node";
import { wasmHost } from "@keyhole/worker-host/wasm";
import { sized } from "../support/size.ts";
import { describeRandomTools } from "./model-hosts.shared.ts";

describeRandomTools("a thread of Node", async () => nodeHost(), sized(6, 200));
describeRandomTools("this thread", async () => wasmHost(), sized(20, 500));
