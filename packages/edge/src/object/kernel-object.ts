import { DurableObject } from "cloudflare:workers";
import { createKernel, type PolicyDocument } from "@keyhole/kernel";
import { netBroker } from "@keyhole/worker-host/brokers/net";
import { filesBroker } from "@keyhole/worker-host/brokers/files";
import { r2Store } from "@keyhole/worker-host/brokers/files-r2";
import { builtInTools } from "../tools.ts";
import defaultPolicy from "../../policy.json" with { type: "json" };
import { approvalDesk } from "../app/approvals.ts";
import { HttpRefusal, problemOf } from "../app/problem.ts";
import { createRoutes, type Routes } from "../app/routes.ts";
import type { Env } from "../env.ts";
import { edgeHost } from "../isolate/host.ts";
import { type IsolateLoader, sandboxLoader } from "../isolate/loader.ts";
import { IsolateRack } from "../isolate/rack.ts";
import { sqlSink } from "./sink.ts";

/** The kernel of one tenant. One object, so that registry, rate windows, waiting approvals and the log exist once, whatever Worker a request came through. */
export class KernelObject extends DurableObject<Env> {
  /** A failure is kept too: it answers every request, instead of an object that cannot start. */
  readonly #routes: Promise<Routes>;

  constructor(context: DurableObjectState, env: Env) {
    super(context, env);
    this.#routes = context.blockConcurrencyWhile(() => startRoutes(context, env)).catch((error: unknown) => Promise.reject(error));
  }

  override async fetch(request: Request): Promise<Response> {
    try {
      const routes = await this.#routes;
      return await routes.fetch(request);
    } catch (error) {
      return problemOf(error);
    }
  }
}

async function startRoutes(context: DurableObjectState, env: Env): Promise<Routes> {
  const policy = readPolicy(env.KEYHOLE_POLICY);
  const desk = approvalDesk();
  const kernel = await createKernel({
    host: edgeHost({
      loader: loaderOf(env),
      brokers: [netBroker(), filesBroker(r2Store(env.FILES))],
      onUnresponsive: () => context.waitUntil(callWatchdog(env.KEYHOLE_WATCHDOG)),
    }),
    policy,
    sink: sqlSink(context.storage),
    approver: desk.approver,
  });
  for (const tool of builtInTools) {
    const registered = kernel.register(tool);
    if (!registered.ok) throw new Error(`${registered.error.code}: ${registered.error.message}`);
  }
  return createRoutes({ kernel, desk, policy });
}

function loaderOf({ SANDBOX, LOADER }: Env): IsolateLoader {
  if (SANDBOX !== undefined) return sandboxLoader(SANDBOX);
  if (LOADER !== undefined) return new IsolateRack(LOADER);
  throw new HttpRefusal("MISCONFIGURED", "Neither SANDBOX nor LOADER is bound, so no tool can run.");
}

/** Checked by the kernel; here only whether it is JSON. */
function readPolicy(json: string | undefined): PolicyDocument {
  try {
    return (json === undefined || json === "" ? defaultPolicy : JSON.parse(json)) as PolicyDocument;
  } catch {
    throw new HttpRefusal("MISCONFIGURED", "KEYHOLE_POLICY is not JSON.");
  }
}

/** A watchdog that cannot be reached has its own heartbeat to go by. */
async function callWatchdog(url: string | undefined): Promise<void> {
  if (url !== undefined && url !== "") await fetch(url, { method: "POST" }).catch(() => undefined);
}
