import type { AuditLog } from "../../audit/log.ts";
import type { Clock } from "../../isolate/clock.ts";
import type { ContentReference } from "../../bytes/content-reference.ts";
import type { SessionLabels } from "../../policy/decision/session-labels.ts";
import type { CallFailure, CallMeta, CallResult, CallSuccess } from "../../result.ts";
import type { Revocations } from "../../capability/revocation.ts";
import { learn, ownsSession } from "../record/ancestors.ts";
import { dataOf, type Ending, isEnding, type KeptOutput } from "../ending/ending.ts";
import type { CallFault } from "../faults/fault.ts";
import type { MaybePromise } from "../../support/maybe-promise.ts";
import type { CallEnd, CallRecord } from "../record/record.ts";
import { spentBy, withMore } from "../ending/spent.ts";
import { assertUnchanged, type AuthorizePorts } from "./authorize.ts";
import { type Concluded, endingWith, failedEnding, normalizerOf, reusedEnding } from "./conclude.ts";
import type { Decided } from "./decide.ts";
import { canBeGiven, needsApprovalSince, resultGone } from "../ending/given-again.ts";
import { boundsOf } from "./reserve.ts";
import { tooLarge } from "./run-faults.ts";

/** The result for the caller, and the ending that other calls may be given. */
export interface Answered extends CallEnd {
  readonly kind: Exclude<CallEnd["kind"], "early">;
  readonly result: CallResult;
}

/** Another call's outcome, which answers this one. */
export interface Reused {
  readonly ending: Ending;
  readonly by: "cache" | "idempotency-key";
}

export interface AnswerPorts extends Pick<AuthorizePorts, "authority"> {
  readonly log: AuditLog;
  readonly clock: Clock;
  readonly labels: SessionLabels;
  readonly revocations: Pick<Revocations, "track" | "reasonFor">;
  /** Puts the output into the content store, where its caller would rather have it by reference. */
  readonly beforeReuse:
    | ((state: Decided, output: KeptOutput) => MaybePromise<ContentReference | undefined>)
    | undefined;
}

/** Step 12 of a call that gave a result. */
export function answer(state: Concluded, { clock }: AnswerPorts): Answered {
  const { normalized, reference } = state;
  const { output, outputHash: hash, raw } = normalized;
  const { call, tool, proof } = normalized.started;
  const { effects, meta } = costOf(call, clock);
  const given = { ok: true, data: output, hash, tool: tool.id, callId: call.callId, proof, effects, meta } as const;
  const result: CallSuccess = reference
    ? { ...given, data: null, reference }
    : { ...given, ...(raw !== undefined && { raw }) };
  return { kind: "succeeded", result, hasStarted: true, ending: () => endingWith(state) };
}

/**
 * The end of a call for which nothing runs: it is given another call's outcome, if that fits its own
 * bounds. It has an end of its own on record.
 */
export async function reuse(state: Decided, { ending, by }: Reused, ports: AnswerPorts): Promise<Answered> {
  const { call, tool, policy } = state;
  const { log, labels, clock, beforeReuse } = ports;
  if (!isEnding(ending)) throw new TypeError("an extension answered with an ending of its own");
  const { outcome, effects } = ending;
  log.record("result.reused", call.scope, { from: ending.callId, by });
  call.reach({ ...state, reused: ending });
  // A shared result comes after the approval of its call, a key's before.
  const isUnapproved = by === "idempotency-key" && needsApprovalSince(state, ending);
  if (isUnapproved || !canBeGiven(state, ending, ports)) throw resultGone(ending.callId);
  const names = [...policy.labelsOf(tool.manifest.name), ...ending.origin.labels];
  call.parent?.call.origin.called();
  learn(call, names);
  // Also with a failure: it tells of what ran.
  call.persist("end", () => labels.add(call, names, ownsSession(call)));
  if (!outcome.ok) throw outcome.fault;
  const { output } = outcome;
  const { outputBytes: limit } = boundsOf(tool, policy, call.options);
  if (output.outputBytes > limit) throw tooLarge(state, undefined, limit);
  const reference = await beforeReuse?.(state, output);
  assertUnchanged(state, ports);
  const { hash: outputHash, outputBytes } = output;
  const completed = { outputHash, outputBytes, ...normalizerOf(tool), effects };
  log.record("tool.completed", call.scope, completed, call.changesAt("end"));
  await log.flush();
  const result = reusedResult(state, output, reference, clock);
  return { kind: "reused", result, hasStarted: false, ending: () => reusedEnding(call, output) };
}

function reusedResult(
  { call, tool, proof }: Decided,
  output: KeptOutput,
  reference: ContentReference | undefined,
  clock: Clock,
): CallSuccess {
  const { callId } = call;
  return {
    ok: true,
    ...(reference ? { data: null, reference } : { data: dataOf(output) }),
    hash: output.hash,
    tool: tool.id,
    callId,
    proof,
    ...costOf(call, clock),
  };
}

/** Step 12 of every other call. */
export function answerFailure(call: CallRecord, fault: CallFault, clock: Clock): Answered {
  const { tool, proof } = call.progress;
  const { callId, toolName, hasStarted } = call;
  const result: CallFailure = {
    ok: false,
    error: fault.error,
    tool: tool?.id ?? toolName,
    callId,
    ...(proof && { proof }),
    ...costOf(call, clock),
  };
  const kind = fault.code === "SUSPENDED" ? "suspended" : "failed";
  return { kind, result, hasStarted, ending: () => failedEnding(call, fault) };
}

function costOf(call: CallRecord, clock: Clock): { readonly effects: readonly string[]; readonly meta: CallMeta } {
  const { arrivedMs, queuedMs, warnings, traceparent } = call;
  const { effects, networkRequests, networkBytes, attempts, usage, cached } = spentBy(call);
  const durationMs = clock.monotonicMs() - arrivedMs;
  const meta = { durationMs, queuedMs, cached, attempts, networkRequests, networkBytes, warnings, traceparent };
  return { effects, meta: withMore(meta, usage) };
}
