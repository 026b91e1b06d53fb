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
import type { ClientAnswer, ClientCall, Governance, KernelClient } from "./kernel-client.ts";

/** A kernel behind HTTP. */
export async function openEdgeClient(settings: EdgeSettings): Promise<KernelClient> {
  const edge = new Edge(settings);
  const { tools } = readTools(await edge.get("/v1/tools"));
  const governance = await edge.optional("/v1/policy");
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
