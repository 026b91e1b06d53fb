import { gatewayWorker, kernelObject, type KernelObjectClass } from "@keyhole/edge";
import { builtinTools } from "@keyhole/worker-host/tools";
import drink from "keyhole:../../contract/tools/drink.ts";
import pour from "keyhole:../../contract/tools/pour.ts";
import asking from "keyhole:./asking.ts";
import deed from "keyhole:./deed.ts";

const Configured: KernelObjectClass = kernelObject({
  tools: [...builtinTools, asking, deed, drink, pour],
  policy: { version: "1", posture: "standard" },
});

export class KernelObject extends Configured {}

export default gatewayWorker;
