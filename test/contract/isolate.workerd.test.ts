import { edgeHost, IsolateRegistry } from "@keyhole/edge";
import { bindings } from "../edge/bindings.ts";
import { describeIsolateHost } from "./isolate.ts";

// In one process nothing stops a loop: test/e2e/edge.test.ts has the sandbox and its watchdog.
describeIsolateHost("edge", async () => edgeHost({ loader: new IsolateRegistry(bindings.LOADER), preempts: false }), {
  preempts: false,
});
