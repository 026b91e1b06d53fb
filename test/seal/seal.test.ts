import { nodeHost } from "@keyhole/worker-host/node";
import { describeLeaks } from "./describe-leaks.ts";

describeLeaks("the interpreter", async () => nodeHost());
