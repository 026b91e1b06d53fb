import type { ApprovalRequest, AuditEvent, CallResult, JsonValue, ToolSummary } from "@keyhole/kernel";
import { isKnown } from "./known-event.ts";
import { checkBytes, EdgeOutput } from "./edge-output.ts";
import type { EdgeSettings } from "./edge-settings.ts";
import {
  readApproval,
  readEvent,
  readEvents,
  readGovernance,
  readJson,
  readLog,
  readOutput,
  readProblem,
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
  const questions = new AbortController();
  const inputs = [call.input];
  try {
    const { input, version, sessionId } = call;
    const response = await edge.send(
      `/v1/tools/${encodeURIComponent(call.tool)}/calls`,
      { input, version, sessionId, ...(output && { output: true }) },
      call.signal,
      call.body,
    );
    if (response.body === null)
      throw new ClientFault("protocol", "The edge sent an answer without content.", "Try again.");
    for await (const { event, data } of serverEvents(response.body)) {
      const foreign = readJson(data);
      if (event === "result") return checked(readResult(foreign), { tool, inputs, events: seen }, output);
      if (event === "output") await output?.take(readOutput(foreign));
      if (event === "audit") seen.push(hear(call, readEvent(foreign)));
      if (event === "log") call.onLog(readLog(foreign));
      if (event === "progress") call.onProgress(readProgress(foreign));
      if (event === "approval") void ask(edge, call, readApproval(foreign), questions.signal, inputs);
    }
    throw new ClientFault(
      "protocol",
      "The edge ended the call without a result.",
      "The audit log of the edge says what became of it.",
    );
  } catch (error) {
    if (call.signal.aborted) return { result: await endOf(edge, call, seen), verification: ofLog };
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

/** @param inputs takes what the person puts in the place of the input */
async function ask(
  edge: Edge,
  call: ClientCall,
  request: ApprovalRequest,
  signal: AbortSignal,
  inputs: JsonValue[],
): Promise<void> {
  for (;;) {
    const { approver: _approver, ...body } = await call.approve(request, signal);
    // Nobody waits any more: withdrawn by the edge itself.
    if (signal.aborted || call.signal.aborted) return;
    if (body.answer === "edit") inputs.push(body.input as JsonValue);
    try {
      await edge.send(`/v1/approvals/${encodeURIComponent(request.approvalId)}`, body, signal);
      return;
    } catch {
      // An answer that the edge did not take leaves the question open: it is asked again.
    }
  }
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
    const { events } = readEvents(await edge.get(`/v1/audit?from=${from}&limit=1000`));
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

function failureOf(event: AuditEvent, events: readonly AuditEvent[]): CallResult | undefined {
  if ((event.type !== "tool.failed" && event.type !== "tool.blocked") || !isKnown(event)) return undefined;
  const known = events.filter(isKnown);
  const invoked = known.find((each) => each.type === "call.invoked");
  const decided = known.findLast((each) => each.type === "policy.decided");
  const { code } = event.payload;
  // The log keeps the digest of what was said, not the words.
  const message =
    code === "CANCELLED" ? "The call was cancelled." : `The call ended with ${code} while it was being cancelled.`;
  return {
    ok: false,
    tool: invoked?.payload.tool ?? "",
    callId: event.callId ?? "",
    effects: event.type === "tool.failed" ? event.payload.effects : [],
    error: { code, message, details: null, retryable: false, hint: "", operatorHint: "" },
    ...(decided?.payload.proof && { proof: decided.payload.proof }),
    meta: {
      durationMs: Date.parse(event.time) - Date.parse(invoked?.time ?? event.time),
      queuedMs: 0,
      cached: false,
      attempts: 1,
      networkRequests: known.filter((each) => each.type === "capability.used" && each.payload.kind.startsWith("net."))
        .length,
      networkBytes: 0,
      warnings: [],
      traceparent: event.traceparent ?? "",
    },
  };
}

/** One edge, with its token. Every failure is a {@link ClientFault}. */
class Edge {
  readonly #address: string;
  readonly #authorization: string;

  constructor({ address, token }: EdgeSettings) {
    this.#address = address;
    this.#authorization = `Bearer ${token}`;
  }

  async get(path: string): Promise<unknown> {
    const response = await this.#fetch(path, {});
    return response.json().catch(() => {
      throw new ClientFault(
        "protocol",
        `${this.#address} did not answer with JSON.`,
        "Is this the address of a Keyhole edge?",
      );
    });
  }

  /** `undefined` where the token may not read it. */
  async optional(path: string): Promise<unknown> {
    return this.get(path).catch(() => undefined);
  }

  /**
   * A call is asked for as a stream; anything else answers with nothing.
   *
   * @param bytes the body of a call, whose JSON goes into a header then
   */
  send(path: string, body: unknown, signal: AbortSignal, bytes?: Blob): Promise<Response> {
    const accept = "text/event-stream";
    const json = JSON.stringify(body);
    if (!bytes) {
      const headers = { "content-type": "application/json", accept };
      return this.#fetch(path, { method: "POST", headers, body: json, signal });
    }
    const base64 = btoa(String.fromCharCode(...new TextEncoder().encode(json)));
    const headers = { "content-type": "application/octet-stream", accept, "keyhole-call": `:${base64}:` };
    return this.#fetch(path, { method: "POST", headers, body: bytes, signal });
  }

  /** What is gone already is no fault. */
  async remove(path: string): Promise<void> {
    await this.#fetch(path, { method: "DELETE" }, 404);
  }

  unreachable(): ClientFault {
    const hint = "Is it running, and does it allow this page's origin? Its address and token are under “Edge”.";
    return new ClientFault("unreachable", `The edge at ${this.#address} does not answer.`, hint);
  }

  async #fetch(
    path: string,
    init: Omit<RequestInit, "headers"> & { readonly headers?: Record<string, string> },
    expectedStatus?: number,
  ): Promise<Response> {
    let response: Response;
    try {
      response = await fetch(this.#address + path, {
        ...init,
        headers: { ...init.headers, authorization: this.#authorization },
        referrerPolicy: "no-referrer",
        credentials: "omit",
      });
    } catch (error) {
      throw init.signal?.aborted === true ? error : this.unreachable();
    }
    if (response.ok || response.status === expectedStatus) return response;
    throw await problemOf(response, this.#address);
  }
}

async function problemOf(response: Response, address: string): Promise<ClientFault> {
  if (response.status === 401)
    return new ClientFault(
      "unauthorized",
      "The edge does not accept this token.",
      "Copy the token that the edge printed when it started, and enter it under “Edge”.",
    );
  try {
    const { code, detail } = readProblem(await response.json());
    return new ClientFault("protocol", detail, `${code}, status ${response.status}`);
  } catch {
    return new ClientFault(
      "protocol",
      `${address} answered with status ${response.status}.`,
      "Is this the address of a Keyhole edge?",
    );
  }
}
