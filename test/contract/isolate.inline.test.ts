import { inlineHost } from "@keyhole/kernel/inline";
import { describeIsolateHost } from "./isolate.ts";

describeIsolateHost("inline", async () => inlineHost(), { preempts: false });
