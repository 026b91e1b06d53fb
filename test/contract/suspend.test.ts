import { nodeHost } from "@keyhole/worker-host/node";
import { interpreterHost } from "@keyhole/worker-host/wasm";
import { testEngine } from "../wasm/engine.ts";
import { describeSuspendedCalls } from "./suspend.ts";

describeSuspendedCalls("the Node host", async () => nodeHost());
describeSuspendedCalls("the interpreter", async () => interpreterHost({ engine: await testEngine() }));
