import { browserHost } from "@keyhole/worker-host/browser";
import { describeIsolateHost } from "./isolate.ts";

// In the thorough run: the frame has the whole contract in isolate.browser.test.ts, and the interpreter has it on Node.
// Not in WebKitGTK, which stops no thread that executes WebAssembly: each loop of the contract would keep a core (docs/threat-model.md).
describeIsolateHost("browser, interpreter", () => browserHost({ isolation: "interpreter" }), {
  preempts: true,
  part: "whole",
});
