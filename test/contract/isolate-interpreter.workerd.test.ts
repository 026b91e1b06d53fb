import { interpreterHost } from "@keyhole/worker-host/wasm/interpreter";
import { builtTestEngine } from "../wasm/built-engine.ts";
import { describeIsolateHost } from "./isolate.ts";

// workerd compiles nothing from bytes: the engine comes from the build.
const preempts = "promising" in WebAssembly;

describeIsolateHost("interpreter", async () => interpreterHost({ engine: builtTestEngine() }), {
  preempts,
  part: "engine",
});
