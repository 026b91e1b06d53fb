import type { AuditEvent, CallResult } from "@keyhole/kernel";

/**
 * Every name that leaves for OpenTelemetry, in one place: the conventions for generative AI are in development, and change. Names of our own are under `keyhole.`.
 * Source: semantic conventions for generative AI, "Execute tool span" and the metric of tool executions.
 */
export const names = {
  scope: "@keyhole/worker-host",
  operation: "execute_tool",
  operationName: "gen_ai.operation.name",
  tool: "gen_ai.tool.name",
  callId: "gen_ai.tool.call.id",
  type: "gen_ai.tool.type",
  error: "error.type",
  duration: "gen_ai.execute_tool.duration",
} as const;

type Value = string | number | boolean | string[];

/** The attributes before the call. */
export function callAttributes(name: string): Record<string, string> {
  return { [names.operationName]: names.operation, [names.tool]: name, [names.type]: "function" };
}

/** The attributes after the call. */
export function resultAttributes(result: CallResult): Record<string, Value> {
  const { callId, tool, effects, meta, proof } = result;
  return {
    [names.callId]: callId,
    "keyhole.tool": tool,
    "keyhole.effects": [...effects],
    "keyhole.queued_ms": meta.queuedMs,
    "keyhole.attempts": meta.attempts,
    "keyhole.cached": meta.cached,
    "keyhole.network.requests": meta.networkRequests,
    "keyhole.network.bytes": meta.networkBytes,
    "keyhole.traceparent": meta.traceparent,
    ...(proof && {
      "keyhole.proof.id": proof.proofId,
      "keyhole.proof.hash": proof.hash,
      "keyhole.decision": proof.decision,
    }),
    ...(result.ok && { "keyhole.output.hash": result.hash }),
  };
}

/** An event of the log as an event of the span: its place in the log, and those of its members that are single values. */
export function eventAttributes(event: AuditEvent): Record<string, Value> {
  const members = Object.entries(event.payload).flatMap(([key, value]): [string, Value][] =>
    typeof value === "string" || typeof value === "number" || typeof value === "boolean"
      ? [[`keyhole.${snakeCase(key)}`, value]]
      : [],
  );
  return { "keyhole.seq": event.seq, "keyhole.hash": event.hash, ...Object.fromEntries(members) };
}

const snakeCase = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
