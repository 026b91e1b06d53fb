import { covers } from "../../capability/grant.ts";
import { type Revocations, withRevocations } from "../../capability/revocation.ts";
import type { Clock } from "../../isolate/clock.ts";
import { requestPolicyOf, type RunningFacts } from "../../policy/decision/request-policy.ts";
import type { SessionLabels } from "../../policy/decision/session-labels.ts";
import type { Mode } from "../../tool/manifest.ts";
import { isStricter } from "../../tool/modes.ts";
import type { Ending } from "./ending.ts";
import { CallFault } from "../faults/fault.ts";
import * as texts from "../faults/texts.ts";
import { type Origin, originPart } from "../record/origin.ts";
import { holderOf } from "../steps/check-grants.ts";
import type { Decided } from "../steps/decide.ts";
import { observes } from "../steps/reserve.ts";

/**
 * The authority that decides about a call and its nested calls, beside the labels of the session.
 */
export function authorityText({ policy, mode, grant }: Pick<Decided, "policy" | "mode" | "grant">): string {
  return JSON.stringify([policy.hash, mode, grant.hash]);
}

/** Whether a person has to approve the call, and nobody had to under the milder mode of the origin. */
export function needsApprovalSince({ verdict, mode }: Decided, { origin }: Ending): boolean {
  if (verdict.decision !== "ask" || !verdict.enforced || origin.authority === undefined) return false;
  const [, before] = JSON.parse(origin.authority) as [string, Mode, string];
  return isStricter(mode, before);
}

/** Whether calls from within would be decided as they were: the session carries no label that it did not carry then, or that came with the result. */
function isDecidedAlike(state: Decided, { authority, sessionLabels, labels }: Origin, facts: RunningFacts): boolean {
  const known = new Set([...sessionLabels, ...labels]);
  return authority === authorityText(state) && facts.labels.every((label) => known.has(label));
}

interface GivenPorts {
  readonly clock: Pick<Clock, "now">;
  readonly labels: SessionLabels;
  readonly revocations: Pick<Revocations, "track" | "reasonFor">;
}

/**
 * Whether a call could make every request now that the outcome of another one was made of. Its own decision stands already. Of calls from within only the used grants are known, so
 * nothing else can have changed for them.
 */
export function canBeGiven(state: Decided, { origin }: Ending, { clock, labels, revocations }: GivenPorts): boolean {
  const { call, policy, mode } = state;
  // The call can have waited for the outcome.
  const facts = { mode, labels: labels.of(call, policy.allLabels), nowMs: clock.now() };
  const isAlike = origin.isToldByNeeds || isDecidedAlike(state, origin, facts);
  return isAlike && couldBeAsked(state, origin, revocations, facts);
}

/** Whether the call could make each remembered request now. */
function couldBeAsked(
  state: Decided,
  origin: Origin,
  revocations: GivenPorts["revocations"],
  facts?: RunningFacts,
): boolean {
  const { call, tool, grant, policy, decisionInput } = state;
  const own = withRevocations(revocations, call.revocations);
  const holder = holderOf(call, tool);
  const isRevoked = (kind: string, name = holder.tool): boolean =>
    own.reasonFor({ ...holder, tool: name }, kind) !== undefined;
  if (!origin.isWhole && grant.kinds.some((kind) => isRevoked(kind) || policy.families.get(kind)?.isCall === true))
    return false;
  const guard = observes(policy) ? undefined : requestPolicyOf(policy, decisionInput, facts && (() => facts));
  return (
    origin.usedWithin.every(({ tool: name, kind }) => !isRevoked(kind, name)) &&
    origin.needs.every((need) => !isRevoked(need.kind) && covers(grant, need) && guard?.refusal(need) === undefined)
  );
}

/**
 * Throws for a resumed call whose tool has an answer that it could not request now: the kernel
 * cannot take an answer out of an isolate. Under the same authority only a revocation can have
 * changed that.
 */
export function assertAnswersStand(state: Decided, revocations: GivenPorts["revocations"]): void {
  const { call, tool, policy } = state;
  const before = call.hasStarted ? call.came(originPart) : undefined;
  if (!before) return;
  call.origin.restore(before, (json) => (policy.families.get(json.kind) ? policy.families.need(json) : undefined));
  const isTold = call.origin.isToldByNeeds || before.authority === authorityText(state);
  if (isTold && couldBeAsked(state, call.origin, revocations)) return;
  throw new CallFault("CAPABILITY_DENIED", texts.answerRefused(tool.id));
}

/** The fault for a key that stays used after its result is gone. */
export function resultGone(callId: string | null): CallFault {
  return new CallFault("INVALID_INPUT", texts.resultGone(callId));
}
