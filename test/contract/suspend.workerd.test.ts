import { interpreterHost } from "@keyhole/worker-host/wasm/interpreter";
import { builtTestEngine } from "../wasm/built-engine.ts";
import { describeSuspendedCalls } from "./suspend.ts";

describeSuspendedCalls("the interpreter in workerd", async () => interpreterHost({ engine: builtTestEngine() }));
