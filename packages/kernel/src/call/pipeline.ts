import type { AuditLog } from "../audit/log.ts";
import type { Backoff } from "../isolate/backoff.ts";
import type { Limiter } from "../bounds/limiter.ts";
import type { Revocations } from "../capability/revocation.ts";
import * as limits from "../limits.ts";
import { CallFault, Reentry } from "./faults/fault.ts";
import * as texts from "./faults/texts.ts";
import { assertAnswersStand } from "./ending/given-again.ts";
import type { MaybePromise } from "../support/maybe-promise.ts";
import type { Points } from "./points.ts";
import type { Entry } from "./arrival/entry.ts";
import type { CallRecord } from "./record/record.ts";
import type { CallResult } from "../result.ts";
import type { Registry } from "../tool/registry.ts";
import { answer, answerFailure, type Answered, type AnswerPorts, reuse } from "./steps/answer.ts";
import { assertStartable, assertUnchanged, authorize, type AuthorizePorts } from "./steps/authorize.ts";
import { checkGrants, type GrantPorts } from "./steps/check-grants.ts";
import { conclude, concludeFailure, type ConcludePorts } from "./steps/conclude.ts";
import { decide, type DecidePorts } from "./steps/decide.ts";
import { normalize } from "./steps/normalize.ts";
import { reserve, type ReservePorts } from "./steps/reserve.ts";
import { resolve, type ResolvePorts } from "./steps/resolve.ts";
import { run, type RunPorts } from "./steps/run.ts";
import { recordStart, type StartPorts, type Started } from "./steps/start.ts";
import { type Checked, validateOutput } from "./steps/validate-output.ts";
import { validate, type ValidatePorts } from "./steps/validate.ts";

/** The ports of all steps together. The core has no others. */
export interface Core
  extends
    ResolvePorts,
    ValidatePorts,
    GrantPorts,
    DecidePorts,
    AuthorizePorts,
    ReservePorts,
    StartPorts,
    RunPorts,
    ConcludePorts,
    AnswerPorts {
  readonly log: AuditLog;
  readonly limiter: Limiter;
  readonly backoff: Backoff;
  readonly registry: Registry;
  readonly points: Points;
  readonly revocations: Pick<Revocations, "track" | "reasonFor" | "kindsWithin">;
}

/**
 * The twelve steps. Each takes the state that only the step before can make, so a pass that leaves
 * one out does not compile. A step that stops the call throws; `perform` catches.
 *
 * No `await` after a synchronous step: a microtask costs more than most steps. A call without a
 * wait reaches its isolate in the turn in which it arrives.
 */
// prettier-ignore
async function pass(call: CallRecord, entry: Entry, core: Core): Promise<Answered> {
  const { points } = core;
  if (entry.phase !== "edit") points.onArrival?.(call);
  const resolved = resolve(call, core);                                     //  1
  const validating = validate(resolved, entry, core);                       //  2
  const validated = validating instanceof Promise ? await validating : validating;
  const granted = checkGrants(validated, core);                             //  3
  const decided = decide(granted, entry, core);                             //  4
  assertAnswersStand(decided, core.revocations);
  const knowing = points.afterDecision?.(decided);
  const known = knowing instanceof Promise ? await knowing : knowing;
  if (known) return reuse(assertUnchanged(decided, core), known, core);
  const allowing = authorize(decided, core);                                //  5
  const allowed = allowing instanceof Promise ? await allowing : allowing;
  const sharing = points.afterAllow?.(allowed);
  const shared = sharing instanceof Promise ? await sharing : sharing;
  if (shared) return reuse(assertStartable(allowed, core), shared, core);
  const reserving = reserve(allowed, entry, core);                          //  6
  const reserved = reserving instanceof Promise ? await reserving : reserving;
  const starting = recordStart(reserved, entry, core);                      //  7
  const started = starting instanceof Promise ? await starting : starting;
  const attempt = (each: Started): Promise<Checked> =>
    run(each, core).then(validateOutput);                                   //  8, 9
  const checked = await (points.aroundRun?.(started, attempt) ?? attempt(started));
  assertOwn(checked, call);
  const normalizing = normalize(checked);                                   // 10
  const normalized = normalizing instanceof Promise ? await normalizing : normalizing;
  const storing = points.beforeConclude?.(normalized);
  const reference = storing instanceof Promise ? await storing : storing;
  const concluding = conclude(normalized, reference, core);                 // 11
  const concluded = concluding instanceof Promise ? await concluding : concluding;
  return answer(concluded, core);                                           // 12
}

/** An extension that mixes up the results of two calls would answer one caller with the other's data. */
function assertOwn({ started }: Checked, call: CallRecord): void {
  if (started.call !== call) throw new TypeError("an extension answered with the result of another call");
}

/**
 * Owns a call from its arrival to its answer. It releases everything that the call acquired, newest
 * first, on each way out of `pass` and before the caller gets the answer. Never rejects.
 */
export async function perform(call: CallRecord, arrival: Entry, core: Core): Promise<CallResult> {
  let answered: Answered | undefined;
  for (let entry = arrival; !answered;)
    try {
      answered = await pass(call, entry, core);
    } catch (thrown) {
      // New arguments meet every step that the old ones met.
      const again = reentryOf(thrown, call);
      if (again) entry = again;
      else answered = await failed(call, thrown instanceof Reentry ? tooManyEdits() : thrown, core);
    }
  return end(call, answered, core);
}

/** Owns a call that goes no further than its arrival: it ends with this fault, on record. */
export async function close(call: CallRecord, fault: CallFault, core: Core): Promise<CallResult> {
  return end(call, await failed(call, fault, core), core);
}

/** Owns a call that never arrives: a snapshot that is refused keeps its worth, so nothing is on record. */
export async function refuse(call: CallRecord, fault: CallFault, core: Core): Promise<CallResult> {
  const answered = answerFailure(call, fault, core.clock);
  call.settle(answered);
  return answered.result;
}

async function failed(call: CallRecord, thrown: unknown, core: Core): Promise<Answered> {
  return answerFailure(call, await concludeFailure(call, thrown, core), core.clock);
}

function end(call: CallRecord, answered: Answered, { points }: Core): MaybePromise<CallResult> {
  call.settle(answered);
  const { kind, result } = answered;
  const telling = kind === "suspended" ? undefined : points.onEnd?.(answered);
  return telling ? telling.then(() => result) : result;
}

/** The arguments as an approver changed them, a limited number of times: an approver could keep a call for ever. */
function reentryOf(thrown: unknown, call: CallRecord): Extract<Entry, { phase: "edit" }> | undefined {
  if (!(thrown instanceof Reentry)) return undefined;
  if (++call.edits > limits.edits) return undefined;
  return { phase: "edit", input: thrown.input, parentProofId: thrown.parentProofId };
}

const tooManyEdits = (): CallFault => new CallFault("APPROVAL_DENIED", texts.editedOften);
