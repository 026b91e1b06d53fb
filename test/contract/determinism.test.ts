import { nodeHost } from "@keyhole/worker-host/node";
import { describeDeterminism } from "./determinism.ts";

describeDeterminism("Node, in the interpreter", async () => nodeHost());
