import { nodeFault } from "./needed-node.ts";

const fault = nodeFault();
if (fault !== undefined) throw new Error(`@keyhole/worker-host/node ${fault}`);
