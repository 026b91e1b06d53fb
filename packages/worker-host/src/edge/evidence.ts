import {
  type AuditEvent,
  type AuditEventOf,
  type CallMeta,
  type CallResult,
  type JsonValue,
  terminalTypes,
  type ToolSummary,
} from "@keyhole/kernel";
import { isKnown } from "./known-event.ts";

/** The parts of a request that its answer repeats. */
export interface Asked {
  readonly name?: string;
  /** SemVer version or range. */
  readonly version?: string | undefined;
  /** Whether a listed tool is the package of the request. */
  readonly isPackage?: (tool: ToolSummary) => boolean;
  readonly raw?: boolean | undefined;
  readonly references?: boolean | undefined;
  readonly sessionId?: string | undefined;
  readonly correlationId?: string | undefined;
  readonly traceparent?: string | undefined;
}

export interface Answer {
  /** As the edge lists it; absent where it lists no such tool. */
  readonly tool: ToolSummary | undefined;
  readonly asked?: Asked;
  /** The possible inputs of the call: the input with its defaults, and edits by an approver. */
  readonly inputs: readonly JsonValue[];
  readonly result: CallResult;
  /** As the edge sent them with the result. */
  readonly events: readonly AuditEvent[];
  /** The stream came to this client, and was held against the result's digest. */
  readonly hasStream: boolean;
  /** The client made the result of a cancelled call from its events. */
  readonly isFromLog?: boolean;
}

type End = AuditEventOf<"tool.completed"> | AuditEventOf<"tool.failed"> | AuditEventOf<"tool.blocked">;

/** An answer with the events of its call, as far as this client knows their types. */
export interface Evidence extends Answer {
  readonly asked: Asked;
  readonly own: readonly AuditEvent[];
  readonly invoked: AuditEventOf<"call.invoked"> | undefined;
  readonly end: End | undefined;
}

/** Made once for an answer: a call can have 20,000 events. */
export function evidenceOf(answer: Answer): Evidence {
  const { events, result, asked = {} } = answer;
  const own = events.filter(({ callId }) => callId === result.callId).filter(isKnown);
  const invoked = own.find((event) => event.type === "call.invoked");
  return { ...answer, asked, own, invoked, end: own.find(isEnd) };
}

function isEnd(event: AuditEvent): event is End {
  return event.type !== "tool.lost" && terminalTypes.includes(event.type);
}

type Timed = Pick<CallMeta, "durationMs" | "queuedMs" | "attempts">;

/** The members of `meta` that follow from the events of a call alone. */
export function timesOf(own: readonly AuditEvent[]): Timed {
  const times = own.map(({ time }) => Date.parse(time));
  const spanMs = (from: number, to: number): number => Math.max(0, times[to]! - times[from]!) || 0;
  const waits = own.flatMap(({ type }, at) => (waiting.has(type) && at + 1 < own.length ? [spanMs(at, at + 1)] : []));
  const retried = own.findLast((event) => event.type === "tool.retried");
  return {
    durationMs: own.length === 0 ? 0 : spanMs(0, own.length - 1),
    queuedMs: waits.reduce((sum, each) => sum + each, 0),
    attempts: retried?.payload.attempt ?? (own.some(({ type }) => type === "tool.started") ? 1 : 0),
  };
}

/** The next event of the call ends the wait. No event tells of a wait for an equal call. */
const waiting: ReadonlySet<string> = new Set(["approval.requested", "call.queued"]);
