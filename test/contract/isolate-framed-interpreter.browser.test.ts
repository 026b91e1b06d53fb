import { browserHost } from "@keyhole/worker-host/browser";
import { wholeIn } from "../support/browser-part.ts";
import { describeIsolateHost } from "./isolate.ts";

// Not in WebKitGTK, which stops no thread that executes WebAssembly: each loop of the contract would keep a core (docs/threat-model.md).
describeIsolateHost("browser, interpreter", () => browserHost({ isolation: "interpreter" }), {
  preempts: true,
  part: wholeIn("chromium"),
});
