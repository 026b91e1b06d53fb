import { browserHost } from "@keyhole/worker-host/browser";
import { describeIsolateHost } from "./isolate.ts";

// Not in WebKitGTK: after a tool that never yields was stopped there, later isolates did not start in time (docs/threat-model.md).
describeIsolateHost("browser, interpreter", () => browserHost({ isolation: "interpreter" }), { preempts: true });
