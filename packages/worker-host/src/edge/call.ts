import {
  type ApprovalAnswer,
  type ApprovalRequest,
  type AuditEvent,
  type CallResult,
  type JsonValue,
  type LogEntry,
  type Progress,
  verifyChain,
} from "@keyhole/kernel";
import { hashOf } from "@keyhole/kernel/audit";
import { EdgeTally, mostOfEdge } from "./bounds.ts";
import { failureOf } from "./failure-from-log.ts";
import { EdgeFault, unknownEnd } from "./fault.ts";
import type { Edge } from "./http.ts";
import { timed } from "./in-time.ts";
import { serverEvents } from "./server-events.ts";
import {
  eventsOfPage,
  readApproval,
  readEvent,
  readEvents,
  readJson,
  readLog,
  readOutput,
  readProgress,
  readResult,
} from "./wire.ts";

/** After a cancellation the connection is gone; the call's end is then read from the log, which the grace period delays. */
const endMs = 5_000;
const pollMs = 150;
/** The bytes of a body that an edge reads before the tool wants them. A browser sends its whole request before it reads the answer. Beyond this size, tool and page can wait for each other. */
export const aheadBytes: number = 8 << 20;

/** One call, as its caller listens to it. */
export interface EdgeCall {
  readonly tool: string;
  /** The body of the request: the input, and options of the call. */
  readonly request: { readonly input: JsonValue; readonly output?: boolean } & object;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Blob | undefined;
  readonly signal: AbortSignal;
  /** Resolves when the caller has the bytes. */
  readonly onOutput?: ((bytes: Uint8Array) => Promise<void>) | undefined;
  readonly onEvent: (event: AuditEvent) => void;
  readonly onLog: (entry: LogEntry) => void;
  readonly onProgress: (progress: Progress) => void;
  /** `signal` aborts when nobody waits for the answer any more. Absent: others may answer. */
  readonly approve: ((request: ApprovalRequest, signal: AbortSignal) => Promise<ApprovalAnswer>) | undefined;
}

export interface EdgeEnd {
  readonly result: CallResult;
  /** As the edge sent them with the result. */
  readonly events: readonly AuditEvent[];
  /** The inputs with which the call can have run: its own, and an approver's edits. */
  readonly inputs: readonly JsonValue[];
  /** A cancelled call has no answer: the result was put together from the log. */
  readonly isFromLog: boolean;
}

/**
 * Makes a call at an edge. `approvals` is the edge under the token that may answer questions.
 *
 * @throws {EdgeFault}
 */
export async function callOver(edge: Edge, call: EdgeCall, approvals: Edge = edge): Promise<EdgeEnd> {
  const events: AuditEvent[] = [];
  const inputs = [call.request.input];
  const tally = new EdgeTally(call.onOutput !== undefined);
  const questions = new AbortController();
  const gaveUp = new AbortController();
  const signal = AbortSignal.any([call.signal, gaveUp.signal]);
  try {
    const path = `/v1/tools/${encodeURIComponent(call.tool)}/calls`;
    const { headers = {}, body: bytes } = call;
    const body = await edge.call(path, call.request, { signal, bytes, headers });
    for await (const { event, data } of serverEvents(timed(body, edge.silenceMs, signal))) {
      tally.take(event, data);
      const read = <T>(as: (foreign: unknown) => T): T => as(readJson(data));
      if (event === "result") return { result: read(readResult), events, inputs, isFromLog: false };
      if (event === "output") await call.onOutput?.(read(readOutput));
      if (event === "audit") events.push(hear(call, read(readEvent)));
      if (event === "log") call.onLog(read(readLog));
      if (event === "progress") call.onProgress(read(readProgress));
      if (event === "approval")
        void ask(approvals, call, { request: read(readApproval), signal: questions.signal, inputs, gaveUp });
    }
    throw unknownEnd("The edge ended the call without a result.");
  } catch (error) {
    if (call.signal.aborted) return await endOf(edge, call, { events, inputs, isFromLog: true });
    if (gaveUp.signal.aborted) throw gaveUp.signal.reason;
    throw error instanceof EdgeFault
      ? error
      : unknownEnd("The connection broke before the edge said how the call ended.");
  } finally {
    questions.abort();
  }
}

function hear(call: EdgeCall, event: AuditEvent): AuditEvent {
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
async function ask(edge: Edge, call: EdgeCall, { request, signal, inputs, gaveUp }: Question): Promise<void> {
  if (call.approve === undefined) return;
  for (let asked = 0; asked < mostOfEdge.answers; asked++) {
    const answer = await call.approve(request, signal).catch((): ApprovalAnswer => failedApprover);
    // No caller waits: withdrawn by the edge itself.
    if (signal.aborted || call.signal.aborted) return;
    if (answer.answer === "edit") inputs.push(answer.input as JsonValue);
    try {
      if (await answerOver(edge, request.approvalId, answer, signal)) return;
    } catch {
      // Once more.
    }
    // The call can end before the edge has said that it took the answer.
    if (signal.aborted || call.signal.aborted) return;
  }
  gaveUp.abort(
    new EdgeFault(
      "EDGE_REFUSED",
      `The edge took none of ${mostOfEdge.answers} answers to its question.`,
      "The client gave up the call. The audit log of the edge has its end.",
    ),
  );
}

const failedApprover: ApprovalAnswer = { answer: "deny", approver: "", reason: "The approver failed." };

/** `false` where nothing of this id waits. The approver is the subject of the token, whoever the answer names. */
export function answerOver(
  edge: Edge,
  approvalId: string,
  { approver: _approver, ...body }: ApprovalAnswer,
  signal?: AbortSignal,
): Promise<boolean> {
  return edge.tell(`/v1/approvals/${encodeURIComponent(approvalId)}`, body, signal);
}

/** How a cancelled call ended, from the log: nothing is made up here. */
async function endOf(edge: Edge, call: EdgeCall, so: Omit<EdgeEnd, "result">): Promise<EdgeEnd> {
  const events = [...so.events];
  const [first] = events;
  const gone = unknownEnd("The call was cancelled before the edge said how it ended.");
  if (first === undefined) throw gone;
  let last: AuditEvent = events.at(-1) ?? first;
  const until = performance.now() + endMs;
  while (performance.now() < until) {
    const page: readonly AuditEvent[] = await eventsFrom(edge, last.seq + 1, eventsOfPage);
    const by = hashOf(last.hash);
    const chain = by && verifyChain([last, ...page], by);
    if (chain?.ok !== true) throw untrue(`The log does not continue the events of the call. ${chain?.reason ?? ""}`);
    // The last event can be that of a nested call.
    for (const event of page.filter(({ callId }) => callId === first.callId)) {
      events.push(hear(call, event));
      const result = failureOf(event, events);
      if (result !== undefined) return { ...so, result, events };
      if (event.type === "tool.completed") throw gone;
    }
    last = page.at(-1) ?? last;
    await new Promise((resolve) => setTimeout(resolve, pollMs));
  }
  throw gone;
}

/** Events of the edge's log, in order, at most `limit`. */
export async function eventsFrom(edge: Edge, seq: number, limit: number): Promise<readonly AuditEvent[]> {
  return readEvents(await edge.get(`/v1/audit?from=${seq}&limit=${limit}`)).events;
}

/** @param why the answer cannot be what it says it is */
export function untrue(why: string): EdgeFault {
  const message = `The edge's answer contradicts itself. ${why}`;
  return new EdgeFault("EDGE_UNTRUE", message.trim(), "The client passes on no part of the answer.");
}
