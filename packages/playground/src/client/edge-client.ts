import type { ApprovalRequest, AuditEvent, CallResult, JsonValue, ToolSummary } from "@keyhole/kernel";
import { failureOf } from "./failure-from-log.ts";
import { checkBytes, EdgeOutput } from "./edge-output.ts";
import { EdgeTally, mostOfEdge } from "./edge-bounds.ts";
import { Edge } from "./edge-http.ts";
import type { EdgeSettings } from "./edge-settings.ts";
import {
  eventsOfPage,
  readApproval,
  readEvent,
  readEvents,
  readGovernance,
  readJson,
  readLog,
  readOutput,
  readPreview,
  readProgress,
  readResult,
  readStanding,
  readTools,
} from "./edge-wire.ts";
import {
  type ClientAnswer,
  type ClientCall,
  ClientFault,
  type Governance,
  type KernelClient,
} from "./kernel-client.ts";
import { serverEvents } from "./sse.ts";
import { type Answer, type Verification, verifyAnswer } from "./verify-answer.ts";
import { withDefaults } from "./with-defaults.ts";

/** After a cancellation the connection is gone; the call's end is then read from the log, which the grace period delays. */
const endMs = 5_000;
const pollMs = 150;
/** What an edge reads of a body before the tool wants it. A browser reads no answer before it has sent its request, so beyond this the tool could wait for a page that waits for it. */
const aheadBytes = 8 << 20;

/** A kernel behind HTTP. */
export async function openEdgeClient(settings: EdgeSettings): Promise<KernelClient> {
  const edge = new Edge(settings);
  const { tools } = readTools(await edge.get("/v1/tools"));
  const governance = await edge.optional("/v1/policy");
  return {
    place: "edge",
    address: settings.address,
    tools: () => Promise.resolve(tools),
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
      revoke: (approvalId) => edge.remove(`/v1/approvals/${encodeURIComponent(approvalId)}`),
    },
  };
}

/** The person chose it from this list. */
function toolOf({ tool, version }: ClientCall, tools: readonly ToolSummary[]): ToolSummary {
  return tools.find(({ manifest }) => manifest.name === tool && manifest.version === version)!;
}

async function callEdge(edge: Edge, call: ClientCall, tool: ToolSummary): Promise<ClientAnswer> {
  const seen: AuditEvent[] = [];
  const hasRoom = (call.body?.size ?? 0) <= aheadBytes;
  const output = call.output && hasRoom ? new EdgeOutput(call.output, tool) : undefined;
  const tally = new EdgeTally(output !== undefined);
  const questions = new AbortController();
  const gaveUp = new AbortController();
  const inputs = [call.input];
  try {
    const { input, version, sessionId } = call;
    const response = await edge.send(
      `/v1/tools/${encodeURIComponent(call.tool)}/calls`,
      { input, version, sessionId, ...(output && { output: true }) },
      AbortSignal.any([call.signal, gaveUp.signal]),
      call.body,
    );
    if (response.body === null)
      throw new ClientFault("protocol", "The edge sent an answer without content.", "Try again.");
    for await (const { event, data } of serverEvents(response.body)) {
      tally.take(event, data);
      const foreign = readJson(data);
      if (event === "result") return checked(readResult(foreign), { tool, inputs, events: seen }, output);
      if (event === "output") await output?.take(readOutput(foreign));
      if (event === "audit") seen.push(hear(call, readEvent(foreign)));
      if (event === "log") call.onLog(readLog(foreign));
      if (event === "progress") call.onProgress(readProgress(foreign));
      if (event === "approval")
        void ask(edge, call, { request: readApproval(foreign), signal: questions.signal, inputs, gaveUp });
    }
    throw new ClientFault(
      "protocol",
      "The edge ended the call without a result.",
      "The audit log of the edge says what became of it.",
    );
  } catch (error) {
    if (call.signal.aborted) return { result: await endOf(edge, call, seen), verification: ofLog };
    if (gaveUp.signal.aborted) throw gaveUp.signal.reason;
    throw error instanceof ClientFault ? error : edge.unreachable();
  } finally {
    questions.abort();
  }
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

function checked(
  result: CallResult,
  { tool, inputs, events }: Pick<Answer, "tool" | "inputs" | "events">,
  output: EdgeOutput | undefined,
): ClientAnswer {
  output?.end(result);
  checkBytes(result, tool);
  const whole = inputs.map((input) => withDefaults(tool.manifest.input, input));
  const verification = verifyAnswer({ tool, inputs: whole, events, result, hasStream: output !== undefined });
  return { result, verification };
}

function hear(call: ClientCall, event: AuditEvent): AuditEvent {
  call.onEvent(event);
  return event;
}

interface Question {
  readonly request: ApprovalRequest;
  /** Aborts when the call has ended. */
  readonly signal: AbortSignal;
  /** Takes what the person puts in the place of the input. */
  readonly inputs: JsonValue[];
  /** Ends the call, with its reason. */
  readonly gaveUp: AbortController;
}

/** An answer that the edge did not take leaves the question open: it is asked again, so many times. */
async function ask(edge: Edge, call: ClientCall, { request, signal, inputs, gaveUp }: Question): Promise<void> {
  for (let asked = 0; asked < mostOfEdge.answers; asked++) {
    const { approver: _approver, ...body } = await call.approve(request, signal);
    // Nobody waits any more: withdrawn by the edge itself.
    if (signal.aborted || call.signal.aborted) return;
    if (body.answer === "edit") inputs.push(body.input as JsonValue);
    try {
      await edge.send(`/v1/approvals/${encodeURIComponent(request.approvalId)}`, body, signal);
      return;
    } catch {
      // Once more.
    }
  }
  gaveUp.abort(
    new ClientFault(
      "protocol",
      `The edge took none of ${mostOfEdge.answers} answers to its question.`,
      "The page gave the call up. The audit log of the edge has its end.",
    ),
  );
}

/** How a cancelled call ended, from the log: nothing is made up here. */
async function endOf(edge: Edge, call: ClientCall, seen: readonly AuditEvent[]): Promise<CallResult> {
  const last = seen.at(-1);
  const gone = new ClientFault(
    "unreachable",
    "The call was cancelled before the edge said how it ended.",
    "The audit log of the edge has its end.",
  );
  if (last === undefined) throw gone;
  const until = performance.now() + endMs;
  let from = last.seq + 1;
  while (performance.now() < until) {
    const { events } = readEvents(await edge.get(`/v1/audit?from=${from}&limit=${eventsOfPage}`));
    for (const event of events) {
      if (event.callId === last.callId) hear(call, event);
      const result = event.callId === last.callId ? failureOf(event, [...seen, event]) : undefined;
      if (result !== undefined) return result;
    }
    from = (events.at(-1)?.seq ?? from - 1) + 1;
    await new Promise((resolve) => setTimeout(resolve, pollMs));
  }
  throw gone;
}
