import {
  toolNamePattern,
  type ApprovalRequest,
  type AuditEvent,
  type CallResult,
  type Determinism,
  errorCodes,
  type JsonObject,
  type JsonValue,
  type LogEntry,
  type Mode,
  modes,
  outputKinds,
  parseJson,
  type Preview,
  type Progress,
  type Risk,
  type StandingApproval,
  type ToolHealth,
  type ToolSummary,
} from "@keyhole/kernel";
import { decodeBase64 } from "@keyhole/kernel/foreign";
import { mostOfEdge } from "./bounds.ts";
import { EdgeFault } from "./fault.ts";
import { type Guard, guard, nullableWord, number, record, text, texts, word, words } from "./guard.ts";
import type { Verification } from "./verify-answer.ts";

/** A result with an output of the largest size: as base64, in one text. */
const eventLimits = { maxStringUnits: 64 << 20 };

/** @throws {EdgeFault} for what is not JSON, or holds more than an answer of an edge: something else may answer at this address. */
export function readJson(data: string): unknown {
  const parsed = parseJson(data, { maxDepth: 80, maxNodes: 101_000, maxMembers: 51_000, ...eventLimits });
  if (parsed.ok) return parsed.value;
  const isText = parsed.error.reason === "syntax";
  throw new EdgeFault(
    isText ? "EDGE_NOT_UNDERSTOOD" : "EDGE_TOO_MUCH",
    isText ? "The edge sent an event that is not JSON." : "The edge sent an event that holds too much.",
    "Is this the address of a Keyhole edge?",
  );
}

const determinisms = ["pure", "seeded", "external", "nondeterministic"] as const satisfies readonly Determinism[];
const risks = ["low", "medium", "high", "critical"] as const satisfies readonly Risk[];
const tier: JsonObject = { enum: [0, 1, 2, 3, 4] };
const manifest = record(
  {
    /** The form of every kernel; a file is named after it. */
    name: { type: "string", pattern: toolNamePattern },
    version: word,
    description: text,
    effects: words,
    determinism: { enum: determinisms },
    tier,
    source: word,
    capabilities: { type: "array", items: record({ kind: word }), maxItems: 200 },
    bounds: { type: "object", additionalProperties: number, maxProperties: 100 },
    input: { type: "object" },
    output: record({ kind: { enum: outputKinds } }, { mediaType: text }),
  },
  { title: text, body: record({}, { mediaType: text }) },
);

const summary = record({ id: word, hash: word, codeHash: nullableWord, manifest });

export const readTools: Guard<{ readonly tools: readonly ToolSummary[] }> = guard(
  "a list of tools",
  record({
    tools: {
      type: "array",
      items: summary,
      maxItems: mostOfEdge.tools,
    },
  }),
);

const event: JsonObject = record({
  seq: { type: "integer" },
  id: word,
  time: word,
  type: word,
  callId: nullableWord,
  payload: { type: "object" },
  prev: word,
  hash: word,
});

export const readEvent: Guard<AuditEvent> = guard("an event", event);

/** As many as a client asks for. */
export const eventsOfPage = 1_000;

export const readEvents: Guard<{ readonly events: readonly AuditEvent[] }> = guard(
  "events",
  record({ events: { type: "array", items: event, maxItems: eventsOfPage } }),
);

/** A part of a log, and where the next one begins. */
export const readAuditPage: Guard<{ readonly events: readonly AuditEvent[]; readonly next: number | string }> = guard(
  "a part of the log",
  record({ events: { type: "array", items: event, maxItems: eventsOfPage }, next: { oneOf: [number, word] } }),
);

export const readLog: Guard<LogEntry> = guard(
  "a log line",
  record({ level: { enum: ["debug", "info", "warn", "error"] }, message: text }),
);

export const readProgress: Guard<Progress> = guard(
  "a progress report",
  record({ done: number }, { total: number, message: text }),
);

export const readVerification: Guard<Verification> = guard(
  "a verification",
  record({
    verdict: { enum: ["broken", "inconclusive", "unvouched"] },
    checks: {
      type: "array",
      items: record({
        what: { enum: ["tool", "result", "proof", "events", "log"] },
        outcome: { enum: ["passed", "failed", "skipped"] },
        reason: text,
      }),
    },
  }),
);

const readPiece: Guard<{ readonly base64: string }> = guard(
  "a piece of a stream",
  record({ base64: { type: "string" } }),
);

export function readOutput(foreign: unknown): Uint8Array<ArrayBuffer> {
  return bytesOf(readPiece(foreign).base64);
}

const passkey = record({
  rpId: word,
  keys: {
    type: "array",
    maxItems: mostOfEdge.passkeys,
    items: record({ approver: word, credentialId: { type: "string", maxLength: 4_096 } }),
  },
});

const approval = record(
  {
    approvalId: word,
    callId: word,
    sessionId: word,
    caller: word,
    tool: { type: "string", maxLength: 256 },
    toolHash: word,
    description: text,
    tier,
    risk: { enum: [null, ...risks] },
    effects: texts,
    grants: texts,
    input: {},
    argsHash: word,
    hasBody: { type: "boolean" },
    reason: text,
    expiresAt: word,
  },
  { passkey },
);

export const readApproval: Guard<ApprovalRequest> = guard("a question", approval);

/** The open approval requests, oldest first. */
export const readQuestions: Guard<{ readonly approvals: readonly ApprovalRequest[] }> = guard(
  "a list of questions",
  record({ approvals: { type: "array", maxItems: mostOfEdge.approvals, items: approval } }),
);

export const readStanding: Guard<{ readonly standing: readonly StandingApproval[] }> = guard(
  "a list of approvals",
  record({
    standing: {
      type: "array",
      maxItems: mostOfEdge.approvals,
      items: record(
        {
          approvalId: word,
          tool: text,
          caller: word,
          approver: word,
          scope: { enum: ["once", "session", "pattern"] },
          expiresAt: word,
        },
        { rule: record({ when: record({ arguments: { type: "array" } }) }) },
      ),
    },
  }),
);

/** The members that clients show. A preview proves nothing, so the client recomputes no part of it. */
const previewProof = record({
  reasonCode: word,
  posture: word,
  tier,
  determining: { type: "array", items: record({ ruleId: word }), maxItems: 1_000 },
});

const deniedError = record({ code: word, message: text });
export const readPreview: Guard<Preview> = guard("a preview", {
  oneOf: [
    record({ decision: { enum: ["allow", "ask"] }, tool: word, proof: previewProof }, { revoked: words }),
    record({ decision: { const: "deny" }, tool: word, error: deniedError }, { revoked: words }),
  ],
});

/** The governance of an edge. */
export interface EdgePolicy {
  readonly policy: JsonValue;
  readonly policyHash: string;
  readonly mode: Mode;
}

export const readGovernance: Guard<EdgePolicy> = guard(
  "a policy",
  record({ policy: { type: "object" }, policyHash: word, mode: { enum: modes } }),
);

export const readVersions: Guard<{ readonly versions: readonly ToolSummary[] }> = guard(
  "the versions of a tool",
  record({ versions: { type: "array", items: summary, maxItems: mostOfEdge.tools } }),
);

export const readToolHealth: Guard<ToolHealth> = guard("the health of a tool", {
  oneOf: [
    record({ state: { const: "healthy" } }),
    record({ state: { enum: ["unhealthy", "unreachable", "unchecked"] }, reason: text }),
    record({ state: { const: "quarantined" }, reason: text, retryAfterMs: number }),
  ],
});

export const readProblem: Guard<{ readonly code: string; readonly detail: string }> = guard(
  "a problem",
  record({ code: text, detail: text }),
);

const ended = {
  tool: word,
  callId: word,
  effects: texts,
  meta: record(
    {
      durationMs: number,
      networkRequests: number,
      networkBytes: number,
      cached: { type: "boolean" },
      warnings: texts,
    },
    { fuelUsed: number, peakMemoryBytes: number },
  ),
};

const wireResult: JsonObject = {
  oneOf: [
    record({ ok: { const: true }, ...ended, data: {}, hash: word, proof: { type: "object" } }),
    record({
      ok: { const: false },
      ...ended,
      error: record({
        code: { enum: errorCodes },
        message: text,
        hint: text,
        operatorHint: text,
        retryable: { type: "boolean" },
        details: {},
      }),
    }),
  ],
};

type WireResult = CallResult<JsonValue> & { readonly encoding?: unknown; readonly rawEncoding?: unknown };

const readWireResult: Guard<WireResult> = guard("a result", wireResult);

/** Bytes travel as base64. */
export function readResult(foreign: unknown): CallResult {
  const wire = readWireResult(foreign);
  if (!wire.ok) return wire;
  const { encoding, rawEncoding, data, raw, ...rest } = wire;
  const isText = (mark: unknown, value: unknown): value is string => mark === "base64" && typeof value === "string";
  return {
    ...rest,
    data: isText(encoding, data) ? bytesOf(data) : data,
    ...(raw !== undefined && { raw: isText(rawEncoding, raw) ? bytesOf(raw) : raw }),
  };
}

function bytesOf(base64: string): Uint8Array<ArrayBuffer> {
  const bytes = decodeBase64(base64);
  if (bytes) return bytes;
  throw new EdgeFault("EDGE_NOT_UNDERSTOOD", "The edge sent a text in place of bytes.", "They are no base64.");
}
