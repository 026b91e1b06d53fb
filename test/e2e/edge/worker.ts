import { gatewayWorker, kernelObject, type KernelObjectClass } from "@keyhole/edge";
import { builtinTools } from "@keyhole/worker-host/tools";
import asking from "./asking.ts?tool";
import deed from "./deed.ts?tool";

const Configured: KernelObjectClass = kernelObject({ tools: [...builtinTools, asking, deed], policy: { version: "1", posture: "standard" } });

export class KernelObject extends Configured {}

export default gatewayWorker;
