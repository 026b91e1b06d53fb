import { nodeHost } from "@keyhole/worker-host/node";
import { describeReplay } from "./replay-hosts.ts";

describeReplay("Node", async (tool) => nodeHost({ trusted: [tool.hash] }));
