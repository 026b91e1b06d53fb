import { interpreterHost } from "@keyhole/worker-host/wasm";
import { testEngine } from "../wasm/engine.ts";
import { describeIsolateHost } from "./isolate.ts";

// On one thread nothing stops a loop but its fuel: test/wasm/interpreter.test.ts has that.
describeIsolateHost("interpreter", async () => interpreterHost({ engine: await testEngine() }), { preempts: false });
