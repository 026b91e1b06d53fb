import {
  type CallError,
  type CallFailure,
  type CallMeta,
  type CallResult,
  type CallSuccess,
  type ContentReference,
  modelError,
} from "@keyhole/kernel";
import { hashOf } from "@keyhole/kernel/audit";
import { type Evidence, timesOf } from "./evidence.ts";
import { dataFault, hasOwnForm, proofFault, rawFault, referenceFault, toolFault } from "./member-faults.ts";
import { firstOf, failed, type Outcome } from "./outcome.ts";

type Of<Group extends string, Type> = `${Group}.${keyof Type & string}`;
/** Every member of a result, also of one with an error. */
type Path =
  | Exclude<keyof CallSuccess | keyof CallFailure, "meta" | "error" | "reference">
  | Of<"meta", CallMeta>
  | Of<"error", CallError>
  | Of<"reference", ContentReference>;

/** The evidence of a member, by the check that compares the two; or the value that replaces the edge's. */
interface Member {
  readonly against?: "tool" | "result" | "proof" | "log";
  readonly fault?: (evidence: Evidence) => Outcome;
  readonly instead?: (evidence: Evidence) => unknown;
}

/** The end event says the same. The check of the log has found that event before it asks. */
const log = (what: string, says: (evidence: Evidence) => readonly [told: unknown, recorded: unknown]): Member => ({
  against: "log",
  fault(evidence) {
    const [told, recorded] = says(evidence);
    return isSame(told, recorded) ? undefined : failed(`The events have ${what}.`);
  },
});

const error: Member = log("another error", ({ result, end, isFromLog }) => {
  if (result.ok || isFromLog === true || end === undefined || !("errorHash" in end.payload)) return [0, 0];
  const { errorHash } = end.payload;
  return [hashOf(errorHash)?.jsonOrFault({ ...modelError(result.error) }), errorHash];
});
const reference: Member = { against: "result", fault: referenceFault };

/**
 * The evidence for each member of a result. A member without an entry does not compile, and does not reach the caller. Where nothing vouches, the caller gets the value
 * of the client, not the one of the edge.
 */
const members = {
  ok: log("another outcome", ({ result, end }) => [result.ok, end?.type === "tool.completed"]),
  tool: { against: "tool", fault: toolFault },
  // A nested call has events in the same answer.
  callId: log("no such call from outside", ({ invoked }) => [invoked?.payload.parentCallId, null]),
  effects: log("other effects", ({ result, end }) => [result.effects, recordedIn(end, "effects") ?? []]),
  data: { against: "result", fault: dataFault },
  hash: log("another hash", ({ result, end }) => [result.ok ? result.hash : undefined, recordedIn(end, "outputHash")]),
  // The normal form of the edge's own program cannot be computed here.
  raw: {
    against: "result",
    fault: rawFault,
    instead: ({ result, tool }) => (hasOwnForm(tool) || !result.ok ? undefined : result.raw),
  },
  proof: { against: "proof", fault: proofFault },
  "reference.digest": reference,
  "reference.byteLength": reference,
  "reference.mediaType": reference,
  "error.code": log("another code", ({ result, end }) => [
    result.ok ? undefined : result.error.code,
    recordedIn(end, "code"),
  ]),
  "error.message": error,
  "error.details": error,
  "error.retryable": error,
  "error.hint": error,
  // The digest of the error leaves it out.
  "error.operatorHint": { instead: () => "" },
  // The clocks of an edge are in its events alone.
  "meta.durationMs": { instead: ({ own }) => timesOf(own).durationMs },
  "meta.queuedMs": { instead: ({ own }) => timesOf(own).queuedMs },
  "meta.attempts": { instead: ({ own }) => timesOf(own).attempts },
  "meta.cached": log("another origin of the result", ({ result, own }) => [
    result.meta.cached,
    own.some(({ type }) => type === "result.reused"),
  ]),
  "meta.fuelUsed": used("fuelUsed"),
  "meta.peakMemoryBytes": used("peakMemoryBytes"),
  "meta.networkRequests": used("networkRequests", 0),
  "meta.networkBytes": used("networkBytes", 0),
  // No event has them.
  "meta.warnings": { instead: () => [] },
  "meta.traceparent": log("another trace", ({ result, end }) => [result.meta.traceparent, end?.traceparent]),
} satisfies Record<Path, Member>;

function used(name: "fuelUsed" | "peakMemoryBytes" | "networkRequests" | "networkBytes", none?: 0): Member {
  return log(`another use (${name})`, ({ result, end }) => [result.meta[name], recordedIn(end, name) ?? none]);
}

function recordedIn(end: Evidence["end"], name: string): unknown {
  return end && (end.payload as Readonly<Record<string, unknown>>)[name];
}

const all: readonly (readonly [string, Member])[] = Object.entries(members);

/** Of all members that are compared with this evidence. */
export function membersFault(against: Member["against"], evidence: Evidence): Outcome {
  const faults = new Set(all.flatMap(([, member]) => (member.against === against ? [member.fault!] : [])));
  return firstOf([...faults].map((fault) => fault(evidence)));
}

/** The result as its caller gets it: the members of the table and no other. */
export function vouchedResult(evidence: Evidence): CallResult {
  const { result } = evidence;
  const groups = result.ok ? ["meta", "reference"] : ["meta", "error"];
  const whole = { ...partOf(result, "", evidence) };
  for (const group of groups) {
    const part = (result as unknown as Readonly<Record<string, object | undefined>>)[group];
    if (part !== undefined) Object.assign(whole, { [group]: partOf(part, `${group}.`, evidence) });
  }
  return whole as unknown as CallResult;
}

function partOf(from: object, prefix: string, evidence: Evidence): object {
  const own = all.flatMap(([path, { instead }]) => {
    const name = path.slice(prefix.length);
    if (!path.startsWith(prefix) || name.includes(".")) return [];
    if (!evidence.result.ok && Object.hasOwn(ofSuccess, path)) return [];
    const value = instead ? instead(evidence) : (from as Readonly<Record<string, unknown>>)[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  return Object.fromEntries(own);
}

type OfSuccess = Exclude<keyof CallSuccess, keyof CallFailure | "reference">;
const ofSuccess: Readonly<Record<OfSuccess, true>> = { data: true, hash: true, raw: true };

/** `undefined` and texts, numbers and lists of them. */
function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
