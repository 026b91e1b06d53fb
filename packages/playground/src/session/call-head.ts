import { type ErrorCode, isJsonObject, type JsonObject, type JsonValue } from "@keyhole/kernel";
import { isProof } from "@keyhole/kernel/policy";
import { isKnown } from "@keyhole/worker-host/edge-protocol";
import type { Place } from "../client/kernel-client.ts";
import type { ActiveRun } from "../run/run-state.ts";

/** How far a call is, or how it ended. `broken`: no answer, or one that contradicts itself. `left`: its page closed before the end. */
export const callStates = ["running", "asks", "completed", "refused", "failed", "cancelled", "broken", "left"] as const;
export type CallState = (typeof callStates)[number];

/** One call as the log of calls shows it: a row, and what a search looks through. */
export interface CallHead {
  /** Of this page's own; the kernel's `callId` comes with the first event. */
  readonly id: string;
  /** The tab that made the call, and alone writes it until its end. */
  readonly tab: string;
  readonly place: Place;
  /** Origin of the edge. */
  readonly address: string | null;
  /** `name@version`. */
  readonly tool: string;
  /** The input in one line, at most {@link whatLength} characters. */
  readonly what: string;
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
  readonly state: CallState;
  /** Code of the error; empty for any other end. */
  readonly code: string;
  readonly callId: string | null;
  /** Without the time that it waited. */
  readonly ownMs: number;
  /** For a person, or for a slot. */
  readonly waitedMs: number;
  /** Granted capabilities. */
  readonly openings: number;
  /** Requests that went through the wall, also those that failed outside. */
  readonly crossings: number;
  /** Requests that the wall refused. */
  readonly stopped: number;
  /** Of the output, and through the network. */
  readonly bytes: number;
  /** Digest of the result. */
  readonly hash: string | null;
  /** Whether this page recomputed the answer: `null` where the kernel is its own. */
  readonly verdict: string | null;
  readonly events: number;
  readonly logs: number;
  /** Sentences about the parts that were too large to store. */
  readonly unkept: readonly string[];
}

const whatLength = 300;

const refusals: ReadonlySet<ErrorCode> = new Set([
  "INVALID_INPUT",
  "CAPABILITY_DENIED",
  "POLICY_DENIED",
  "APPROVAL_DENIED",
  "APPROVAL_EXPIRED",
  "RATE_LIMITED",
]);

export function stateOf(run: ActiveRun): CallState {
  if (run.phase === "running") return isAsking(run) ? "asks" : "running";
  if (run.phase === "broken") return run.fault.kind === "left" ? "left" : "broken";
  if (run.verification?.verdict === "broken") return "broken";
  if (run.result.ok) return "completed";
  const { code } = run.result.error;
  if (code === "CANCELLED") return "cancelled";
  return refusals.has(code) ? "refused" : "failed";
}

function isAsking({ events }: ActiveRun): boolean {
  return (
    events.findLast(({ type }) => type === "approval.requested" || type === "approval.resolved")?.type ===
    "approval.requested"
  );
}

/** The facts that the run itself lacks. */
export type Origin = Pick<CallHead, "id" | "tab" | "place" | "address" | "what" | "unkept">;

export function headOf(run: ActiveRun, origin: Origin): CallHead {
  const state = stateOf(run);
  const result = run.phase === "done" ? run.result : undefined;
  const { granted, used, outputBytes } = traceOf(run);
  const proof = result?.proof;
  const waitedMs = numberOf(result?.meta.queuedMs);
  return {
    ...origin,
    tool: run.tool.id,
    startedAt: run.startedAt,
    state,
    code: result?.ok === false ? result.error.code : "",
    callId: result?.callId ?? run.events[0]?.callId ?? null,
    ownMs: Math.max(0, numberOf(result?.meta.durationMs) - waitedMs),
    waitedMs,
    openings: granted,
    crossings: used.ok,
    stopped: used.stopped + (isProof(proof) && proof.reasonCode === "target-denied" ? 1 : 0),
    bytes: outputBytes + numberOf(result?.meta.networkBytes),
    hash: result?.ok === true ? result.hash : null,
    verdict: run.phase === "done" ? (run.verification?.verdict ?? null) : null,
    events: run.events.length,
    logs: run.logs.length,
  };
}

function traceOf({ events }: ActiveRun): {
  readonly granted: number;
  readonly used: { readonly ok: number; readonly stopped: number };
  readonly outputBytes: number;
} {
  let [granted, ok, stopped, outputBytes] = [0, 0, 0, 0];
  const own = events[0]?.callId;
  for (const event of events) {
    if (!isKnown(event)) continue;
    if (event.type === "capability.checked" && event.callId === own) granted = event.payload.granted.length;
    if (event.type === "capability.used" && event.payload.outcome !== "refused") ok++;
    if (event.type === "capability.used" && event.payload.outcome === "refused") stopped++;
    if (event.type === "tool.completed" && event.callId === own) outputBytes = event.payload.outputBytes;
  }
  return { granted, used: { ok, stopped }, outputBytes };
}

/** An edge of another version may send none. */
function numberOf(foreign: unknown): number {
  return typeof foreign === "number" && Number.isFinite(foreign) ? foreign : 0;
}

/**
 * An input in one line: required members first, without the ones that have their default. A single required value needs no name.
 *
 * @param schema of the input; foreign
 */
export function lineOf(input: JsonValue, schema: JsonObject = {}): string {
  if (!isJsonObject(input)) return textOf(input).slice(0, whatLength);
  const names = Object.keys(input);
  const required = Array.isArray(schema["required"])
    ? schema["required"].filter((name) => names.includes(`${name}`))
    : [];
  const told = names.filter((name) => required.includes(name) || !hasDefault(input[name], schema["properties"], name));
  const ordered = [
    ...told.filter((name) => required.includes(name)),
    ...told.filter((name) => !required.includes(name)),
  ];
  const [first] = ordered;
  const isPlain = (name: string): boolean => name === first && (ordered.length === 1 || required.length === 1);
  const texts = ordered.map((name) => `${isPlain(name) ? "" : `${name} `}${textOf(input[name] ?? null)}`);
  return texts.join(" ").slice(0, whatLength);
}

function hasDefault(value: JsonValue | undefined, properties: JsonValue | undefined, name: string): boolean {
  if (!isJsonObject(properties) || !Object.hasOwn(properties, name)) return false;
  const schema = properties[name];
  if (!isJsonObject(schema) || !Object.hasOwn(schema, "default")) return false;
  return JSON.stringify(schema["default"]) === JSON.stringify(value);
}

function textOf(value: JsonValue): string {
  if (typeof value === "string") return value.slice(0, whatLength);
  return (JSON.stringify(value) ?? "").slice(0, whatLength);
}

/** It has no end yet. */
export function isOpen(state: CallState): boolean {
  return state === "running" || state === "asks";
}
