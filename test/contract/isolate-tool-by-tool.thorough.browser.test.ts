import { browserHost } from "@keyhole/worker-host/browser";
import { describeIsolateHost } from "./isolate.ts";

// Each of its two ways has the whole contract elsewhere: here is what crosses from a tool in the one to a tool in the other.
describeIsolateHost(
  "browser, tool by tool",
  () => browserHost({ isolation: ({ name }) => (name === "pour" ? "worker" : "interpreter") }),
  { preempts: true, part: "engine" },
);
