import { browserHost } from "@keyhole/worker-host/browser";
import { describeIsolateHost } from "./isolate.ts";

describeIsolateHost("browser", () => browserHost(), { preempts: true });
