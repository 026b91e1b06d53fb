/** What `wrangler.toml` deploys: the gateway, and kernels with the built-in tools under the bundled policy. */
import type { PolicyDocument } from "@keyhole/kernel";
import { builtinTools } from "@keyhole/worker-host/tools";
import policy from "../policy.json" with { type: "json" };
import { gatewayWorker } from "./gateway-worker.ts";
import { kernelObject } from "./object/kernel-object.ts";

/** JSON imports widen their literals; the kernel checks the document itself. */
const document = policy as PolicyDocument;

export class KernelObject extends kernelObject({ tools: builtinTools, policy: document }) {}

export default gatewayWorker;
