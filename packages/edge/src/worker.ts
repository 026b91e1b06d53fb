/** The program that `wrangler.toml` deploys: the gateway, and kernels with the built-in tools under the bundled policy. */
import type { PolicyDocument } from "@keyhole/kernel";
import { d1Database } from "@keyhole/worker-host/brokers/db-d1";
import { builtinTools, webSearchAt } from "@keyhole/worker-host/tools";
import { builtEngine } from "@keyhole/worker-host/wasm/interpreter";
import quickJs from "keyhole:quickjs-wasi/quickjs.wasm?metered";
import policy from "../policy.json" with { type: "json" };
import { gatewayWorker } from "./gateway-worker.ts";
import { edgeMcp } from "./mcp/index.ts";
import { kernelObject, type KernelObjectClass } from "./object/kernel-object.ts";

// A JSON import widens its literals; the kernel checks the document itself.
const Configured: KernelObjectClass = kernelObject({
  tools: ({ KEYHOLE_SEARCH_URL: search }) =>
    search === undefined || search === "" ? builtinTools : [...builtinTools, webSearchAt(search)],
  policy: policy as PolicyDocument,
  databases: ({ DATABASE }, tenant) =>
    DATABASE === undefined || tenant !== "default" ? {} : { main: d1Database(DATABASE) },
  engine: builtEngine(quickJs),
  mcp: edgeMcp(),
});

export class KernelObject extends Configured {}

export default gatewayWorker;
