import { inlineHost } from "@keyhole/kernel";
import { describeIsolateHost } from "./isolate.ts";

describeIsolateHost("inline", async () => inlineHost(), { preempts: false });
