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
  modes,
  outputKinds,
  parseJson,
  type Preview,
  type Progress,
  type Risk,
  type StandingApproval,
  type ToolSummary,
} from "@keyhole/kernel";
import { compileSchema } from "@keyhole/kernel/schema";
import { explain } from "@keyhole/kernel/schema/explain";
import { mostOfEdge } from "./edge-bounds.ts";
import { ClientFault, type GovernanceState } from "./kernel-client.ts";
import type { Verification } from "./verify-answer.ts";

/** What an edge sends is foreign until its guard has seen it: every member that the page reads has the type that the page expects. */
type Guard<T> = (foreign: unknown) => T;

function guard<T>(what: string, schema: JsonObject): Guard<T> {
  const compiled = compileSchema(schema, { explain });
  if (!compiled.ok) throw new Error(compiled.error.message);
  return (foreign) => {
    const checked = compiled.validator.validate(foreign);
    if (checked.ok) return checked.value as T;
    const [error] = checked.errors;
    if (error !== undefined && tooMany.has(error.keyword))
      throw new ClientFault("protocol", `The edge sent ${what} that holds more than this page takes.`, error.message);
    throw new ClientFault(
      "protocol",
      `The edge sent ${what} that this page does not understand.`,
      error?.message ?? "",
    );
  };
}

const tooMany: ReadonlySet<string> = new Set(["maxItems", "maxLength", "maxProperties", "limit"]);

/** A result with an output of the largest size: as base64, in one text. */
const eventLimits = { maxStringUnits: 64 << 20 };

/** @throws {ClientFault} for what is not JSON, or holds more than an answer of an edge: something else may answer at this address. */
export function readJson(data: string): unknown {
  const parsed = parseJson(data, { maxDepth: 80, maxNodes: 1_001_000, maxMembers: 251_000, ...eventLimits });
  if (parsed.ok) return parsed.value;
  const isText = parsed.error.reason === "syntax";
  throw new ClientFault(
    "protocol",
    isText ? "The edge sent an event that is not JSON." : "The edge sent an event that holds too much.",
    "Is this the address of a Keyhole edge?",
  );
}

const text: JsonObject = { type: "string", maxLength: 65_536 };
/** A name, a digest or a time. */
const word: JsonObject = { type: "string", maxLength: 1_024 };
const nullableWord: JsonObject = { type: ["string", "null"], maxLength: 1_024 };
const number: JsonObject = { type: "number" };
const texts: JsonObject = { type: "array", items: text, maxItems: 1_000 };
const words: JsonObject = { type: "array", items: word, maxItems: 200 };
const determinisms = ["pure", "seeded", "external", "nondeterministic"] as const satisfies readonly Determinism[];
const risks = ["low", "medium", "high", "critical"] as const satisfies readonly Risk[];
const tier: JsonObject = { enum: [0, 1, 2, 3, 4] };
const record = (required: JsonObject, optional: JsonObject = {}): JsonObject => ({
  type: "object",
  properties: { ...required, ...optional },
  required: Object.keys(required),
});

const manifest = record(
  {
    /** What every kernel asks of a name, and a file is named after it. */
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

export const readTools: Guard<{ readonly tools: readonly ToolSummary[] }> = guard(
  "a list of tools",
  record({
    tools: {
      type: "array",
      items: record({ id: word, hash: word, codeHash: nullableWord, manifest }),
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

/** As many as the page asks for. */
export const eventsOfPage = 1_000;

export const readEvents: Guard<{ readonly events: readonly AuditEvent[] }> = guard(
  "events",
  record({ events: { type: "array", items: event, maxItems: eventsOfPage } }),
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

export const readApproval: Guard<ApprovalRequest> = guard(
  "a question",
  record(
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
  ),
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

/** The members that the page shows. A preview proves nothing, so nothing of it is recomputed. */
const previewProof = record({
  reasonCode: word,
  posture: word,
  tier,
  determining: { type: "array", items: record({ ruleId: word }), maxItems: 1_000 },
});

export const readPreview: Guard<Preview> = guard("a preview", {
  oneOf: [
    record({ decision: { enum: ["allow", "ask"] }, tool: word, proof: previewProof }),
    record({ decision: { const: "deny" }, tool: word, error: record({ code: word, message: text }) }),
  ],
});

export const readGovernance: Guard<GovernanceState> = guard(
  "a policy",
  record({ policy: { type: "object" }, policyHash: word, mode: { enum: modes } }),
);

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

const readWireResult: Guard<CallResult<JsonValue> & { readonly encoding?: unknown }> = guard("a result", wireResult);

/** Bytes travel as base64. */
export function readResult(foreign: unknown): CallResult {
  const result = readWireResult(foreign);
  if (!result.ok || result.encoding !== "base64" || typeof result.data !== "string") return result;
  const { encoding: _encoding, ...rest } = result as typeof result & { encoding: string };
  return { ...rest, data: bytesOf(result.data) };
}

function bytesOf(base64: string): Uint8Array<ArrayBuffer> {
  try {
    return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  } catch {
    throw new ClientFault("protocol", "The edge sent a text where bytes have to be.", "They are no base64.");
  }
}
