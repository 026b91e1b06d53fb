import { browserHost } from "@keyhole/worker-host/browser";
import { wasmHost } from "@keyhole/worker-host/wasm";
import { sized } from "../support/size.ts";
import { MeteredProgram } from "./model/observe.ts";
import { MODULES } from "./model/recorded.ts";
import { compareWithRules } from "./model.shared.ts";
import { describeRandomTools } from "./model-hosts.shared.ts";

compareWithRules(0, sized(30, MODULES), MeteredProgram.all);
describeRandomTools("a worker in a frame", () => browserHost(), sized(4, 50));
describeRandomTools("this thread", async () => wasmHost(), sized(10, 200));
