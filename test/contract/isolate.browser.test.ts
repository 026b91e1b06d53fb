import { browserHost } from "@keyhole/worker-host/browser";
import { wholeIn } from "../support/browser-part.ts";
import { describeIsolateHost } from "./isolate.ts";

describeIsolateHost("browser", () => browserHost(), { preempts: true, part: wholeIn("chromium") });
