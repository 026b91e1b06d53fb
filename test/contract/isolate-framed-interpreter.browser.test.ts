import { browserHost } from "@keyhole/worker-host/browser";
import { describeIsolateHost } from "./isolate.ts";

// Not in WebKitGTK, which stops no thread that executes WebAssembly: each loop of the contract would keep a core (docs/threat-model.md).
describeIsolateHost("browser, interpreter", () => browserHost({ isolation: "interpreter" }), { preempts: true });
describeIsolateHost(
  "browser, tool by tool",
  () => browserHost({ isolation: ({ name }) => (name === "pour" ? "worker" : "interpreter") }),
  { preempts: true },
);
