import { type AuditEvent, type AuditPayloads, readVersionedId, terminalTypes } from "@keyhole/kernel";
import { isKnown } from "@keyhole/worker-host/edge-protocol";
import { sentenceOf } from "../run/event-text.ts";

/** `person` and `queue` wait; `event` is a moment that no other kind has. */
export type SpanKind = "call" | "policy" | "person" | "queue" | "tool" | "crossing" | "event";

/** The state of a span, which has a shape, a colour and a word. */
export type SpanState = "running" | "allowed" | "asks" | "denied" | "failed" | "plain";

/** One row of the waterfall: the time between two events of a call, or one event. */
export interface Span {
  readonly kind: SpanKind;
  /** Of the first event. It is unique among spans of equal kind. */
  readonly event: AuditEvent;
  /** The event that ended it. */
  readonly endEvent: AuditEvent | undefined;
  /** Calls within calls: 0 for the call of the page, at most {@link maxDepth}. */
  readonly depth: number;
  readonly isNested: boolean;
  readonly name: string;
  readonly target: string;
  readonly outcome: string;
  readonly state: SpanState;
  /** Of the output. */
  readonly bytes: number | undefined;
  /** Milliseconds since the epoch; finite. */
  readonly start: number;
  /** At least `start`. */
  readonly end: number;
  /** The event has no readable time; it stands at the time of the one before. */
  readonly isTimeless: boolean;
  readonly isOpen: boolean;
}

/** Deeper calls stand at this depth: a line needs some width. */
export const maxDepth = 8;

type Draft = { -readonly [Member in keyof Span]: Span[Member] };

interface OpenCall {
  readonly depth: number;
  readonly isNested: boolean;
  readonly call: Draft | undefined;
  /** Spans that the next fitting event ends. */
  tool?: Draft;
  queue?: Draft;
  readonly questions: Map<string, Draft>;
}

/**
 * The spans of a log, in the order of their first events. An edge is foreign: times may lie, parents may form a cycle, ends may be missing or repeated.
 * It takes time in proportion to the number of events.
 */
export function spansOf(events: readonly AuditEvent[]): readonly Span[] {
  const builder = new SpanBuilder();
  for (const event of events) builder.take(event);
  return builder.finish();
}

class SpanBuilder {
  readonly #spans: Draft[] = [];
  readonly #calls = new Map<string | null, OpenCall>();
  #time = 0;
  #hasTime = false;
  #isTimeless = false;
  /** Latest time of all. A span without an end lasts until then. */
  #latest = Number.NEGATIVE_INFINITY;

  take(event: AuditEvent): void {
    const parsed = Date.parse(event.time);
    this.#isTimeless = !Number.isFinite(parsed);
    if (!this.#isTimeless) {
      if (!this.#hasTime) for (const span of this.#spans) span.start = span.end = parsed;
      this.#hasTime = true;
      this.#time = parsed;
      this.#latest = Math.max(this.#latest, parsed);
    }
    if (!isKnown(event)) this.#add("event", event, { outcome: "unknown form" });
    else this.#takeKnown(event);
  }

  finish(): readonly Span[] {
    for (const span of this.#spans)
      if (span.isOpen) span.end = Math.max(span.start, Number.isFinite(this.#latest) ? this.#latest : span.start);
    return this.#spans;
  }

  #takeKnown(event: AuditEvent): void {
    const call = this.#calls.get(event.callId);
    switch (event.type) {
      case "call.invoked":
        return this.#invoke(event, event.payload);
      case "policy.decided":
        return this.#decide(event, event.payload);
      case "approval.requested": {
        const { approvalId, reason } = event.payload;
        const span = this.#add("person", event, { target: reason, outcome: "asks", state: "asks" });
        span.isOpen = true;
        call?.questions.set(approvalId, span);
        return;
      }
      case "approval.resolved": {
        const { approvalId, answer, approver } = event.payload;
        const asked = call?.questions.get(approvalId);
        call?.questions.delete(approvalId);
        const state = answer === "allow" ? "allowed" : "denied";
        const outcome = answer === "allow" ? `allowed by ${approver}` : answer;
        if (asked) return this.#close(asked, event, { state, outcome });
        this.#add("event", event, { outcome, state });
        return;
      }
      case "call.queued": {
        const target = `number ${event.payload.position} in the queue`;
        const span = this.#add("queue", event, { target, outcome: "waits" });
        span.isOpen = true;
        if (call) call.queue = span;
        return;
      }
      case "tool.started": {
        if (call?.queue) this.#close(call.queue, event, { outcome: "got a slot" });
        const span = this.#add("tool", event, { target: `on ${event.payload.host}`, outcome: "running" });
        span.isOpen = true;
        span.state = "running";
        if (call) call.tool = span;
        return;
      }
      case "capability.used":
        return this.#cross(event, event.payload);
      default:
        return terminalTypes.includes(event.type) && call !== undefined && call.call?.isOpen === true
          ? this.#end(call, event)
          : void this.#add("event", event, { target: sentenceOf(event) });
    }
  }

  #invoke(event: AuditEvent, { tool, caller, parentCallId }: AuditPayloads["call.invoked"]): void {
    // Only a call that came before is a parent: a cycle ends here.
    const parent = parentCallId === event.callId ? undefined : this.#calls.get(parentCallId);
    const depth = parent === undefined ? 0 : Math.min(parent.depth + 1, maxDepth);
    const isNested = parent !== undefined;
    const before = this.#calls.get(event.callId);
    this.#calls.set(event.callId, { depth, isNested, call: undefined, questions: new Map() });
    const call = this.#add("call", event, {
      name: readVersionedId(tool).name,
      target: isNested ? "" : `by ${caller}`,
      outcome: "running",
      state: "running",
    });
    call.isOpen = true;
    const questions = before?.questions ?? new Map<string, Draft>();
    this.#calls.set(event.callId, { depth, isNested, call, questions });
  }

  #decide(event: AuditEvent, decided: AuditPayloads["policy.decided"]): void {
    const { decision, reasonCode, rules } = decided;
    const target = rules.length > 0 ? `rule ${rules.join(", ")}` : reasonCode;
    const state = ({ allow: "allowed", ask: "asks", deny: "denied" } as const)[decision];
    this.#add("policy", event, { target, outcome: decision, state });
  }

  #cross(event: AuditEvent, used: AuditPayloads["capability.used"]): void {
    const { kind, operation, target, outcome } = used;
    const state = outcome === "ok" ? "plain" : outcome === "refused" ? "denied" : "failed";
    const word = outcome === "ok" ? "through" : outcome === "refused" ? "stopped" : "failed outside";
    this.#add("crossing", event, { name: kind, target: `${operation} ${target}`, outcome: word, state });
  }

  #end(open: OpenCall, event: AuditEvent): void {
    const how = endOf(event);
    for (const span of open.questions.values()) this.#close(span, event, { state: "denied", outcome: "no answer" });
    open.questions.clear();
    if (open.queue?.isOpen === true) this.#close(open.queue, event, { outcome: "no slot" });
    if (open.tool?.isOpen === true) this.#close(open.tool, event, { state: how.state, outcome: how.outcome });
    if (open.call) this.#close(open.call, event, how);
  }

  #close(span: Draft, event: AuditEvent, change: Partial<Draft>): void {
    Object.assign(span, change);
    span.isOpen = false;
    span.endEvent = event;
    span.end = Math.max(span.start, this.#time);
  }

  #add(kind: SpanKind, event: AuditEvent, about: Partial<Draft>): Draft {
    const within = this.#calls.get(event.callId);
    const span: Draft = {
      kind,
      event,
      endEvent: undefined,
      depth: kind === "call" ? (within?.depth ?? 0) : Math.min((within?.depth ?? -1) + 1, maxDepth + 1),
      isNested: within?.isNested ?? false,
      name: names[kind] ?? (event.type === "capability.checked" ? "grants" : event.type),
      target: "",
      outcome: "",
      state: "plain",
      bytes: undefined,
      start: this.#time,
      end: this.#time,
      isTimeless: this.#isTimeless,
      isOpen: false,
      ...about,
    };
    this.#spans.push(span);
    return span;
  }
}

const names: Readonly<Partial<Record<SpanKind, string>>> = {
  policy: "policy",
  person: "person",
  queue: "queue",
  tool: "tool",
};

function endOf(event: AuditEvent): Pick<Span, "outcome" | "state" | "bytes"> {
  switch (event.type) {
    case "tool.completed":
      return { outcome: "completed", state: "allowed", bytes: event.payload.outputBytes };
    case "tool.blocked":
      return { outcome: event.payload.code, state: "denied", bytes: undefined };
    case "tool.failed":
      return { outcome: event.payload.code, state: "failed", bytes: undefined };
    default:
      return { outcome: "lost", state: "failed", bytes: undefined };
  }
}
