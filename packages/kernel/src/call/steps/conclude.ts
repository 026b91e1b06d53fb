import type { AuditLog } from "../../audit/log.ts";
import type { ContentReference } from "../../bytes/content-reference.ts";
import type { RegisteredTool } from "../../tool/package.ts";
import { type Ending, endingOf, type KeptOutput, keptOutput } from "../ending/ending.ts";
import { asFault, type CallFault, Suspended } from "../faults/fault.ts";
import { modelError } from "../faults/model-error.ts";
import type { MaybePromise } from "../../support/maybe-promise.ts";
import type { CallRecord } from "../record/record.ts";
import { spentAtEnd, spentBy } from "../ending/spent.ts";
import type { Normalized } from "./normalize.ts";
import { runFault } from "./run-faults.ts";
import { recordInvoked } from "./validate.ts";

declare class Made {
  #conclude: never;
}
/** A call whose one terminal event is durable. */
export interface Concluded extends Made {
  readonly normalized: Normalized;
  /** The output is in the content store, and not in the result. */
  readonly reference: ContentReference | undefined;
}

export interface ConcludePorts {
  readonly log: AuditLog;
}

/** Step 11 of a call that gave a result. */
export function conclude(
  state: Normalized,
  reference: ContentReference | undefined,
  { log }: ConcludePorts,
): MaybePromise<Concluded> {
  const { started, outputHash, outputBytes } = state;
  const { call, tool, body, brake } = started;
  // The steps behind the run waited, and the world went on.
  if (brake.why !== undefined) throw runFault(started, { kind: "forbidden", why: brake.why });
  if (body) log.record("body.read", call.scope, body.account);
  const completed = { outputHash, outputBytes, ...spentAtEnd(call), ...normalizerOf(tool) };
  log.record("tool.completed", call.scope, completed, call.changesAt("end"));
  const concluded = (): Concluded => ({ normalized: state, reference }) as Concluded;
  return log.flush()?.then(concluded) ?? concluded();
}

/** The normalizer of a tool, as the log names it. */
export function normalizerOf({ normalizer }: RegisteredTool): { readonly normalizer?: string } {
  return normalizer ? { normalizer: normalizer.id } : {};
}

/**
 * Step 11 of every failed call, for any thrown value. Never rejects.
 *
 * It records nothing for a suspended call, whose end comes from the kernel that resumes it. After a
 * failure of the log it can record nothing: the next kernel on the sink records the call as lost.
 */
export async function concludeFailure(call: CallRecord, thrown: unknown, { log }: ConcludePorts): Promise<CallFault> {
  const { hasStarted } = call;
  const left = thrown instanceof Suspended ? await thrown.put : thrown;
  const fault = asFault(left, hasStarted);
  if (fault.code === "SUSPENDED" || fault.code === "AUDIT_UNAVAILABLE") return fault;
  try {
    recordInvoked(call, null, log);
    const { body } = call.progress;
    const failure = fault.error;
    const end = { code: failure.code, errorHash: call.hash.jsonOrFault({ ...modelError(failure) }) };
    if (body) log.record("body.read", call.scope, body.account);
    const spent = spentAtEnd(call);
    const changes = call.changesAt("end", failure);
    if (hasStarted) log.record("tool.failed", call.scope, { ...end, ...spent }, changes);
    else log.record("tool.blocked", call.scope, spent.effects.length > 0 ? { ...end, ...spent } : end, changes);
    await log.flush();
    return fault;
  } catch (error) {
    return asFault(error, hasStarted);
  }
}

/** The ending of a call that gave a result, for others: made when it is asked for, because it copies the output. */
export function endingWith({ normalized }: Concluded): Ending {
  const { started, output, outputHash, outputBytes } = normalized;
  const { call, tool } = started;
  const kept = keptOutput(tool, output, outputHash, outputBytes);
  return endingOf(call, true, spentBy(call).effects, { ok: true, output: kept });
}

export function failedEnding(call: CallRecord, fault: CallFault): Ending {
  // A suspended call may still finish its work: no other call does it.
  const hasStarted = call.hasStarted || fault.code === "SUSPENDED";
  return endingOf(call, hasStarted, spentBy(call).effects, { ok: false, fault });
}

export function reusedEnding(call: CallRecord, output: KeptOutput): Ending {
  return endingOf(call, false, spentBy(call).effects, { ok: true, output });
}
