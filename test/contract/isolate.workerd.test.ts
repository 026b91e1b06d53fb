import { edgeHost, IsolateRack } from "@keyhole/edge";
import { bindings } from "../edge/bindings.ts";
import { describeIsolateHost } from "./isolate.ts";

// In one process nothing stops a loop: test/e2e/edge.test.ts has the sandbox and its watchdog.
describeIsolateHost("edge", async () => edgeHost({ loader: new IsolateRack(bindings.LOADER), preempts: false }), {
  preempts: false,
});
