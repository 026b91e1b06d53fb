import type { ToolSummary } from "@keyhole/kernel";
import { membersOf } from "@keyhole/kernel/foreign";
import {
  aheadBytes,
  answerOver,
  callOver,
  checkBytes,
  Edge,
  EdgeOutput,
  type EdgeSettings,
  type EdgeTransport,
  readGovernance,
  readPreview,
  readQuestions,
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
  heard,
  type KernelClient,
} from "./kernel-client.ts";
import { noteEdge } from "./edge-names.ts";
import { watchEvents } from "./watch-events.ts";

/** A kernel behind HTTP, or behind what carries its requests in the place of HTTP. */
export async function openEdgeClient(settings: EdgeSettings, transport?: EdgeTransport): Promise<KernelClient> {
  const edge = new Edge(settings, transport);
  const listed = await edge.get("/v1/tools");
  const { tools } = readTools(listed);
  noteEdge(tools);
  const governance = await edge.optional("/v1/policy");
  const inspector = inspectorOf(listed);
  if (inspector !== undefined)
    return inspectorClient(edge, { address: settings.address, tools, governance, ...inspector });
  const mode = await edge.optional("/v1/mode");
  const own = governanceOf(edge);
  return {
    place: "edge",
    address: settings.address,
    tools,
    started: Promise.resolve({ tools, warning: undefined }),
    call: (call) => callEdge(edge, call, toolOf(call, tools)),
    preview: async ({ tool, ...asked }) =>
      readPreview(await edge.post(`/v1/tools/${encodeURIComponent(tool)}/preview`, asked)),
    governance:
      governance === undefined ? undefined : mode === undefined ? own : heard({ ...own, ...settingMode(edge) }),
    close: () => {},
  };
}

/** Where the log of a watched kernel continues, and what the page may do; `undefined` for an edge. */
function inspectorOf(listed: unknown): Pick<Watchable, "start" | "mayChangeMode"> | undefined {
  const { next, mayChangeMode } = membersOf(membersOf(listed)["inspector"]);
  if (typeof next !== "number" && typeof next !== "string") return undefined;
  return { start: next, mayChangeMode: mayChangeMode === true };
}

interface Watchable {
  readonly address: string;
  readonly tools: readonly ToolSummary[];
  readonly start: number | string;
  readonly mayChangeMode: boolean;
  readonly governance: unknown;
}

/** A kernel of another program, which lets itself be watched: `exposeInspector`. */
function inspectorClient(edge: Edge, { address, tools, start, mayChangeMode, governance }: Watchable): KernelClient {
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
        ? heard({
            read,
            ...(mayChangeMode && settingMode(edge)),
            approvals: { list: approvals.list, revoke: () => Promise.reject(watchedFault) },
          })
        : undefined,
    close: () => {},
  };
}

const watchedFault = new ClientFault("protocol", "This kernel is only watched.", "Its own program calls the tools.");

function settingMode(edge: Edge): Pick<Governance, "setMode"> {
  return { setMode: async (mode, reason) => void (await edge.put("/v1/mode", { mode, reason })) };
}

function governanceOf(edge: Edge): Governance {
  return {
    read: async () => readGovernance(await edge.get("/v1/policy")),
    approvals: {
      list: async () => readStanding(await edge.get("/v1/approvals")).standing,
      revoke: async (approvalId) => void (await edge.remove(`/v1/approvals/${encodeURIComponent(approvalId)}`)),
      desk: {
        waiting: async () => readQuestions(await edge.get("/v1/approvals")).approvals,
        answer: async (approvalId, answer) => void (await answerOver(edge, approvalId, answer)),
      },
    },
  };
}

/** The person chose it from this list. */
function toolOf({ tool, version }: ClientCall, tools: readonly ToolSummary[]): ToolSummary {
  return tools.find(({ manifest }) => manifest.name === tool && manifest.version === version)!;
}

async function callEdge(edge: Edge, call: ClientCall, tool: ToolSummary): Promise<ClientAnswer> {
  const { input, version, sessionId, within: { traceparent, ...within } = {}, ...rest } = call;
  const hasRoom = (call.body?.size ?? 0) <= aheadBytes;
  const output = call.output && hasRoom ? new EdgeOutput(call.output, tool) : undefined;
  const request = { input, version, sessionId, ...within, ...(output && { output: true }) };
  const headers = traceparent === undefined ? {} : { traceparent };
  const onOutput = output && ((bytes: Uint8Array) => output.take(bytes));
  const { result, events, inputs, isFromLog } = await callOver(edge, { ...rest, request, headers, onOutput });
  if (isFromLog) return { result, verification: ofLog };
  output?.end(result);
  checkBytes(result, tool);
  const whole = inputs.map((each) => withDefaults(tool.manifest.input, each));
  const asked = { name: call.tool, version, sessionId, traceparent, correlationId: within.correlationId };
  const verification = verifyAnswer({ tool, asked, inputs: whole, events, result, hasStream: output !== undefined });
  return { result, verification };
}

/** A cancelled call has no answer: this page derives the shown calls from its events. */
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
