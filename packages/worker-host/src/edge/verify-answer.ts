import {
  type AuditEvent,
  type CallResult,
  type JsonValue,
  modelError,
  normalize,
  type Proof,
  terminalTypes,
  type ToolSummary,
  verifyChain,
  verifyProofDigest,
} from "@keyhole/kernel";
import { type EvidenceVerdict, hashOf } from "@keyhole/kernel/audit";
import { isProof } from "@keyhole/kernel/policy";
import { isKnown } from "./known-event.ts";

/** One thing that this client can recompute, or cannot. */
export interface Check {
  readonly what: "tool" | "result" | "proof" | "events" | "log";
  readonly outcome: "passed" | "failed" | "skipped";
  /** Why it failed or was skipped; empty where it passed. */
  readonly reason: string;
}

export interface Verification {
  /** `broken` where one check failed, `inconclusive` where one could not be made. Never `verified`: this client has no key of the edge. */
  readonly verdict: Exclude<EvidenceVerdict, "verified">;
  readonly checks: readonly Check[];
}

export interface Answer {
  readonly tool: ToolSummary;
  /** The possible inputs of the call: the input with its defaults, and edits by an approver. */
  readonly inputs: readonly JsonValue[];
  readonly result: CallResult;
  /** As the edge sent them with the result. */
  readonly events: readonly AuditEvent[];
  /** The stream came to this client, and was held against the result's digest. */
  readonly hasStream: boolean;
}

/** `undefined`: it holds. */
type Outcome = { readonly failed: string } | { readonly skipped: string } | undefined;

const checks: Readonly<Record<Check["what"], (answer: Answer) => Outcome>> = {
  tool: checkTool,
  result: checkResult,
  proof: checkProof,
  events: checkChain,
  log: checkLog,
};

/**
 * Recomputes what an edge says of a call, from what the edge sent. It finds an answer that contradicts itself. Whether the edge made the
 * whole answer up, only a signature under a known key can tell. Nothing foreign makes it throw.
 */
export function verifyAnswer(answer: Answer): Verification {
  const made = Object.entries(checks).map(([what, check]): Check => {
    const outcome = guarded(() => check(answer));
    if (outcome === undefined) return { what: what as Check["what"], outcome: "passed", reason: "" };
    return "failed" in outcome
      ? { what: what as Check["what"], outcome: "failed", reason: outcome.failed }
      : { what: what as Check["what"], outcome: "skipped", reason: outcome.skipped };
  });
  const has = (outcome: Check["outcome"]): boolean => made.some((check) => check.outcome === outcome);
  return { verdict: has("failed") ? "broken" : has("skipped") ? "inconclusive" : "unvouched", checks: made };
}

function guarded(check: () => Outcome): Outcome {
  try {
    return check();
  } catch (error) {
    return { failed: `It is unreadable: ${error instanceof Error ? error.message.slice(0, 200) : "it threw"}.` };
  }
}

/** Digest of manifest and code, as the list of tools has it. */
export function isPackageHash({ hash, codeHash, manifest }: ToolSummary): boolean {
  return hashOf(hash)?.jsonOrFault({ codeHash, manifest: manifest as unknown as JsonValue }) === hash;
}

function checkTool({ tool, result }: Answer): Outcome {
  if (result.tool !== tool.id) return { failed: "The answer is of another tool." };
  return isPackageHash(tool) ? undefined : { failed: "The hash of the tool is not that of its manifest." };
}

/** @returns `undefined` where this client cannot compute it */
export function isResultHash(tool: ToolSummary, result: CallResult): boolean | undefined {
  const outcome = guarded(() => checkResult({ tool, inputs: [], result, events: [], hasStream: false }));
  return outcome === undefined ? true : "failed" in outcome ? false : undefined;
}

function checkResult({ tool: { manifest }, result, hasStream }: Answer): Outcome {
  if (!result.ok) return undefined; // The log's digest of the error is held against it.
  const { data, hash } = result;
  const by = hashOf(hash);
  if (by === undefined) return { failed: "The hash of the result names no known algorithm." };
  const { kind } = manifest.output;
  if (result.reference !== undefined)
    return { skipped: "The output is behind a reference, and did not come with the result." };
  if (kind === "stream")
    return hasStream ? undefined : { skipped: "The bytes of the stream did not come to this client." };
  const normalizer = manifest.normalization?.custom;
  if (normalizer !== undefined)
    return { skipped: `The result has the normal form ${normalizer.slice(0, 100)}, which this client cannot compute.` };
  const isOfKind = kind === "binary" ? data instanceof Uint8Array : kind === "json" || typeof data === "string";
  if (!isOfKind) return { failed: `The result is not ${kind}, which the tool gives.` };
  const normal = normalize(kind, data, by);
  return normal.ok && normal.hash === hash ? undefined : { failed: "The hash is not that of the result." };
}

function checkProof({ tool, inputs, result }: Answer): Outcome {
  const { proof } = result;
  if (proof === undefined)
    return result.ok ? { failed: "There is no proof." } : { skipped: "The call ended without a proof." };
  if (!isProof(proof)) return { failed: "The proof does not have the form of a proof." };
  const by = hashOf(proof.hash)!;
  const sealed = verifyProofDigest(proof, by);
  if (!sealed.ok) return { failed: `The proof has changed. ${sealed.reason}` };
  if (proof.callId !== result.callId) return { failed: "The proof is of another call." };
  if (proof.tool !== tool.id || proof.toolHash !== tool.hash) return { failed: "The proof is of another tool." };
  if (!inputs.some((input) => by.jsonOrFault(input) === proof.inputHash))
    return { failed: "The proof is for another input than the one that this client sent." };
  return result.ok && proof.decision !== "allow" && proof.enforced
    ? { failed: `The proof says ${proof.decision}, and yet there is a result.` }
    : undefined;
}

/** Each event has its own digest, and names that of the event before. */
function checkChain({ events }: Answer): Outcome {
  const [first] = events;
  if (first === undefined) return { skipped: "The edge sent no event." };
  const by = hashOf(first.hash);
  if (by === undefined) return { failed: "The hashes of the events name no known algorithm." };
  const runs = runsOf(events);
  for (const run of runs) {
    const chain = verifyChain(run, by);
    if (!chain.ok) return { failed: chain.reason };
  }
  return runs.length === 1
    ? undefined
    : { skipped: "Each event has its hash. Events of other calls lie between them, so the chain is not whole here." };
}

/** Pieces without a gap. */
function runsOf(events: readonly AuditEvent[]): readonly (readonly AuditEvent[])[] {
  const runs: AuditEvent[][] = [];
  for (const event of events) {
    const last = runs.at(-1);
    const isNext = event.seq === (last?.at(-1)?.seq ?? Number.NaN) + 1;
    if (last !== undefined && isNext) last.push(event);
    else if (last !== undefined && event.seq <= (last.at(-1)?.seq ?? 0)) return [events];
    else runs.push([event]);
  }
  return runs;
}

/** The log has the call, its decision and its end. */
function checkLog({ tool, result, events }: Answer): Outcome {
  if (events.length === 0) return { skipped: "The edge sent no event." };
  const own = events.filter((event) => event.callId === result.callId).filter(isKnown);
  const invoked = own.find((event) => event.type === "call.invoked");
  if (invoked === undefined) return { failed: "The events do not have the call." };
  if (invoked.payload.tool !== tool.id && result.ok) return { failed: "The events are of another tool." };
  const { proof } = result;
  if (proof !== undefined && !own.some((event) => event.type === "policy.decided" && isOf(event.payload, proof)))
    return { failed: "The events do not have the decision of the proof." };
  return endFault(
    result,
    own.find((event) => terminalTypes.includes(event.type)),
  );
}

function isOf(payload: { readonly proofHash: string; readonly decision: string }, proof: Proof): boolean {
  return payload.proofHash === proof.hash && payload.decision === proof.decision;
}

function endFault(result: CallResult, end: AuditEvent | undefined): Outcome {
  if (end === undefined) return { failed: "The events do not have the end of the call." };
  if (result.ok)
    return end.type === "tool.completed" && end.payload.outputHash === result.hash
      ? undefined
      : { failed: "The events end with another result." };
  if (end.type !== "tool.failed" && end.type !== "tool.blocked") return { failed: "The events end with a result." };
  const { code, errorHash } = end.payload;
  const isSame =
    code === result.error.code && hashOf(errorHash)?.jsonOrFault({ ...modelError(result.error) }) === errorHash;
  return isSame ? undefined : { failed: "The events end with another error." };
}
