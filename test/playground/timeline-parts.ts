import type { AuditEvent } from "@keyhole/kernel";
import { hash } from "./session-parts.ts";

/** An event before it has its place in a log. */
export type Loose = Omit<AuditEvent, "seq" | "id">;

/** Milliseconds since the epoch. */
export const timeOf = (afterMs: number): number => Date.UTC(2026, 10, 20, 12) + afterMs;

export function call(afterMs: number, type: string, callId: string, payload: object): Loose {
  const time = new Date(timeOf(afterMs)).toISOString();
  const rest = { v: 1, sessionId: null, traceparent: null, prev: hash, hash };
  return { ...rest, time, type, callId, payload } as unknown as Loose;
}

export const invoked = (at: number, id: string, parentCallId?: string): Loose =>
  call(at, "call.invoked", id, {
    tool: `${id}@1.0.0`,
    caller: "page",
    inputHash: null,
    correlationId: null,
    parentCallId: parentCallId ?? null,
  });

export const decided = (at: number, id: string, decision: string): Loose =>
  call(at, "policy.decided", id, {
    decision,
    enforced: true,
    reasonCode: "posture",
    rules: [],
    policyHash: hash,
    proofHash: hash,
  });

export const asked = (at: number, id: string, approvalId: string): Loose =>
  call(at, "approval.requested", id, {
    approvalId,
    argsHash: hash,
    reason: "The posture asks.",
    expiresAt: "2026-11-20T13:00:00.000Z",
  });

export const resolved = (at: number, id: string, approvalId: string, answer: string): Loose =>
  call(at, "approval.resolved", id, { approvalId, answer, approver: "ada", reason: "" });

export const started = (at: number, id: string): Loose =>
  call(at, "tool.started", id, { tool: `${id}@1.0.0`, toolHash: hash, host: "browser" });

export const crossing = (at: number, id: string, outcome: string): Loose =>
  call(at, "capability.used", id, {
    index: 0,
    kind: "net.read",
    operation: "GET",
    target: "https://example.com/",
    outcome,
    requestHash: hash,
    responseHash: hash,
  });

export const done = (at: number, id: string): Loose =>
  call(at, "tool.completed", id, { outputHash: hash, outputBytes: 7, effects: [] });

/** In order, from 0. */
export const log = (events: readonly Loose[]): readonly AuditEvent[] =>
  events.map((event, seq) => ({ ...event, seq, id: `e${seq}` }) as unknown as AuditEvent);
