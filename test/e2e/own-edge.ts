import { allScopes, type Edge, startEdge } from "../../scripts/serve/edge.mjs";
import { freePorts } from "../../scripts/serve/ports.mjs";
import { untilBuilt } from "./playground/site.ts";

/** An edge as `npm start` runs it, that no other test has: its processes may be killed and counted. */
export interface OwnEdge {
  readonly edge: Edge;
  /** Calls a built-in tool; the status. */
  call(tool: string, input: object, options?: object, headers?: Readonly<Record<string, string>>): Promise<number>;
  /** The workerd processes that run now, of kernel and sandbox. */
  runtimes(): number[];
}

/**
 * @param state where log and files are kept. Default: a folder that goes with the edge
 * @param policy in place of the bundled one
 * @param tenant whose kernel is called. Default: the one that `/healthz` asks
 */
export async function startOwnEdge(state?: string, policy?: object, tenant?: string): Promise<OwnEdge> {
  await untilBuilt();
  const [port = 0] = await freePorts(1);
  const tokens = {
    "watched-token": { subject: "watchdog", scopes: allScopes },
    "own-token": { subject: "tester", scopes: allScopes, ...(tenant !== undefined && { tenant }) },
  };
  const edge = await startEdge({ port, tokens, ...(state !== undefined && { state }), ...(policy && { policy }) });
  return {
    edge,
    async call(tool, input, options = {}, headers = {}) {
      const response = await fetch(`${edge.url}/v1/tools/${tool}/calls`, {
        method: "POST",
        headers: { authorization: "Bearer own-token", "content-type": "application/json", ...headers },
        body: JSON.stringify({ input, ...options }),
      });
      await response.arrayBuffer();
      return response.status;
    },
    runtimes: () => [edge.pids.kernel, ...edge.pids.sandboxes].filter((pid) => pid !== undefined),
  };
}
