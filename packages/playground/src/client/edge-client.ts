import type { ToolSummary } from "@keyhole/kernel";
import {
  aheadBytes,
  callOver,
  checkBytes,
  Edge,
  EdgeOutput,
  type EdgeSettings,
  readGovernance,
  readPreview,
  readStanding,
  readTools,
  type Verification,
  verifyAnswer,
  withDefaults,
} from "@keyhole/worker-host/edge-protocol";
import {
  ClientFault,
  type ClientAnswer,
  type ClientCall,
  type Governance,
  type KernelClient,
} from "./kernel-client.ts";
import { watchEvents } from "./watch-events.ts";

/** A kernel behind HTTP. */
export async function openEdgeClient(settings: EdgeSettings): Promise<KernelClient> {
  const edge = new Edge(settings);
  const listed = await edge.get("/v1/tools");
  const { tools } = readTools(listed);
  const governance = await edge.optional("/v1/policy");
  const start = startOf(listed);
  if (start !== undefined) return inspectorClient(edge, { address: settings.address, tools, start, governance });
  return {
    place: "edge",
    address: settings.address,
    tools,
    started: Promise.resolve({ tools, warning: undefined }),
    call: (call) => callEdge(edge, call, toolOf(call, tools)),
    preview: async ({ tool, ...asked }) =>
      readPreview(await edge.post(`/v1/tools/${encodeURIComponent(tool)}/preview`, asked)),
    governance: governance === undefined ? undefined : governanceOf(edge),
    close: () => {},
  };
}

/** Where the log of a watched kernel goes on; `undefined` for an edge. */
function startOf(listed: unknown): number | string | undefined {
  const { next } = membersOf(membersOf(listed)["inspector"]);
  return typeof next === "number" || typeof next === "string" ? next : undefined;
}

function membersOf(foreign: unknown): Readonly<Record<string, unknown>> {
  return typeof foreign === "object" && foreign !== null ? { ...foreign } : {};
}

interface Watchable {
  readonly address: string;
  readonly tools: readonly ToolSummary[];
  readonly start: number | string;
  readonly governance: unknown;
}

/** A kernel of another program, which lets itself be watched: `exposeInspector`. */
function inspectorClient(edge: Edge, { address, tools, start, governance }: Watchable): KernelClient {
  const { read, approvals } = governanceOf(edge);
  return {
    place: "edge",
    address,
    isWatched: true,
    tools,
    started: Promise.resolve({ tools, warning: undefined }),
    call: () => Promise.reject(watchedFault),
    watch: (listener) => watchEvents(edge, start, listener),
    governance:
      governance !== undefined
        ? { read, approvals: { list: approvals.list, revoke: () => Promise.reject(watchedFault) } }
        : undefined,
    close: () => {},
  };
}

const watchedFault = new ClientFault("protocol", "This kernel is only watched.", "Its own program calls the tools.");

function governanceOf(edge: Edge): Governance {
  return {
    read: async () => readGovernance(await edge.get("/v1/policy")),
    approvals: {
      list: async () => readStanding(await edge.get("/v1/approvals")).standing,
      revoke: async (approvalId) => void (await edge.remove(`/v1/approvals/${encodeURIComponent(approvalId)}`)),
    },
  };
}

/** The person chose it from this list. */
function toolOf({ tool, version }: ClientCall, tools: readonly ToolSummary[]): ToolSummary {
  return tools.find(({ manifest }) => manifest.name === tool && manifest.version === version)!;
}

async function callEdge(edge: Edge, call: ClientCall, tool: ToolSummary): Promise<ClientAnswer> {
  const { input, version, sessionId, ...rest } = call;
  const hasRoom = (call.body?.size ?? 0) <= aheadBytes;
  const output = call.output && hasRoom ? new EdgeOutput(call.output, tool) : undefined;
  const request = { input, version, sessionId, ...(output && { output: true }) };
  const onOutput = output && ((bytes: Uint8Array) => output.take(bytes));
  const { result, events, inputs, isFromLog } = await callOver(edge, { ...rest, request, onOutput });
  if (isFromLog) return { result, verification: ofLog };
  output?.end(result);
  checkBytes(result, tool);
  const whole = inputs.map((each) => withDefaults(tool.manifest.input, each));
  const verification = verifyAnswer({ tool, inputs: whole, events, result, hasStream: output !== undefined });
  return { result, verification };
}

/** A cancelled call has no answer: what is shown was put together from its events. */
const ofLog: Verification = {
  verdict: "inconclusive",
  checks: [
    {
      what: "result",
      outcome: "skipped",
      reason: "The page read how the cancelled call ended from the events of the edge; the message is the page's own.",
    },
  ],
};
