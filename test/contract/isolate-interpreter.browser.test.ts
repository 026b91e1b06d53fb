import { interpreterHost } from "@keyhole/worker-host/wasm";
import { testEngine } from "../wasm/engine.ts";
import { describeIsolateHost } from "./isolate.ts";

// On one thread a loop is stopped where the engine can put its stack aside. Elsewhere its fuel ends it: test/wasm/interpreter.test.ts has that.
const preempts = "promising" in WebAssembly;

describeIsolateHost("interpreter", async () => interpreterHost({ engine: await testEngine() }), {
  preempts,
  part: "engine",
});
