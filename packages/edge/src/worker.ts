/** What `wrangler.toml` deploys: the gateway, and kernels with the built-in tools under the bundled policy. */
import type { PolicyDocument } from "@keyhole/kernel";
import { builtinTools } from "@keyhole/worker-host/tools";
import policy from "../policy.json" with { type: "json" };
import { gatewayWorker } from "./gateway-worker.ts";
import { kernelObject, type KernelObjectClass } from "./object/kernel-object.ts";

// A JSON import widens its literals; the kernel checks the document itself.
const Configured: KernelObjectClass = kernelObject({ tools: builtinTools, policy: policy as PolicyDocument });

export class KernelObject extends Configured {}

export default gatewayWorker;
