import type { GrantHolder, LayerDenial } from "../../capability/denial.ts";
import type { OfKind } from "../../capability/family.ts";
import { restoreGrant } from "../../capability/next-steps.ts";
import * as limits from "../../limits.ts";
import type { ReasonCode } from "../../policy/proof/proof.ts";
import type { ValidationError } from "../../schema/index.ts";
import type { RegisteredTool } from "../../tool/package.ts";
import type { Target } from "../../tool/targets.ts";
import { errorDetails, explanation } from "./explanation.ts";
import type { FaultText } from "./fault-text.ts";
import { denialHints } from "./hints.ts";

/** Texts of calls that a decision ended, or the kernel itself, and of outputs that break a promise. */

export interface Ungranted {
  readonly tool: RegisteredTool;
  readonly targets: readonly Target[];
  readonly holder: GrantHolder;
  readonly missing: readonly string[];
  readonly denialOf: (kind: string, wanted: OfKind | undefined) => LayerDenial;
}

export function ungranted({ tool, targets, holder, missing, denialOf }: Ungranted): FaultText {
  // The reason is the first obstacle that a person has to remove.
  const [first, ...others] = missing
    .map((kind) => denialOf(kind, wantedBy(tool, targets, kind)))
    .toSorted((a, b) => urgency[b.reason] - urgency[a.reason]);
  const reason = first?.reason ?? "not-granted";
  return {
    message: `${tool.id} needs ${missing.join(", ")}, ${lacking[reason](holder)}.`,
    details: { missing: [...missing], reason },
    operatorHint: [first, ...others].flatMap((each) => each?.operatorHint ?? []).join(" "),
  };
}

const urgency: Readonly<Record<LayerDenial["reason"], number>> = { "not-granted": 2, narrowed: 1, "not-held": 0 };
const lacking: Readonly<Record<LayerDenial["reason"], (holder: GrantHolder) => string>> = {
  "not-granted": ({ caller }) => `which is not granted to ${JSON.stringify(caller)}`,
  narrowed: () => "which the call's own `grants` leave out",
  "not-held": () => "which it did not hold when it was suspended",
};

/**
 * The narrowest capability that the call needs first: the target in its arguments, where the tool declares it. Otherwise the declared capability, where there is one and
 * it names a single thing. It suggests a grant to an operator; no decision reads it.
 */
function wantedBy({ declared }: RegisteredTool, targets: readonly Target[], kind: string): OfKind | undefined {
  const wishes = declared.filter((capability) => capability.kind === kind);
  const need = targets.find((target) => target.kind === kind)?.needs[0];
  const named = need && wishes.some((wish) => wish.covers(need, "wish")) ? need.narrowest() : undefined;
  const [only, other] = wishes;
  return (named ?? (only?.isNarrow && !other ? only : undefined))?.json;
}

export function grantRevoked(
  toolId: string,
  { kind, reason }: { readonly kind: string; readonly reason: string },
): FaultText {
  return {
    message: `${toolId} needs ${kind}, and the grant was revoked: ${reason}`,
    details: { revoked: kind, reason: "revoked" },
    operatorHint: restoreGrant,
  };
}

export function realEnded(toolId: string, kind: string): FaultText {
  return { message: `${toolId} sees the real ${kind}, whose grant has ended.`, details: { revoked: kind } };
}

export interface DeniedBy {
  /** A sentence of the policy. */
  readonly reason: string;
  readonly reasonCode: ReasonCode;
  readonly rules: readonly string[];
  /** Where counts alone denied. */
  readonly retryAfterMs: number | undefined;
  /** Why a rule could not read an argument. */
  readonly notPlain: string | undefined;
}

export function denied({ reason, reasonCode, rules, retryAfterMs, notPlain }: DeniedBy): FaultText {
  const isCount = retryAfterMs !== undefined;
  return {
    message: reason,
    details: { reasonCode, rules: [...rules], ...(isCount && { retryAfterMs }) },
    ...denialHints[reasonCode],
    ...(notPlain !== undefined && {
      hint: notPlain,
      operatorHint: `The rule ${rules.join(", ")} cannot read this argument. Narrow the rule, such as by \`tool\`.`,
    }),
    ...(isCount && { hint: `Try again in ${Math.ceil(retryAfterMs / 1000)} s at the earliest.` }),
    retryable: isCount,
  };
}

const askAnew = "Repeat the call. The kernel decides again.";

/** Why an approval holds no longer. */
const lapses = {
  changed: "The policy, the mode or its decision changed while the approval was open; the approval is void.",
  revoked: "The approval was revoked before the tool started.",
  expired: "The approval expired while the call waited.",
} as const;
export type Lapse = keyof typeof lapses;

export function approvalVoid(lapse: Lapse, approvalId: string): FaultText {
  return { message: lapses[lapse], details: { approvalId }, hint: askAnew, retryable: true };
}

export function approvalRevoked(approvalId: string): FaultText {
  return { message: "The approval was revoked while the call was suspended.", details: { approvalId } };
}

export const authorityChanged: FaultText = {
  message: "The policy, the mode or its decision changed while the call waited.",
  hint: askAnew,
  retryable: true,
};

export function unregistered(toolId: string): FaultText {
  return {
    message: `${toolId} was unregistered while the call waited.`,
    details: { nearest: [] },
    hint: "Use another tool.",
  };
}

export const editedLate: FaultText = { message: "An approver cannot edit the arguments of a call that has started." };
export const editedOften: FaultText = { message: `Approvers edited the arguments more than ${limits.edits} times.` };

export function answerRefused(toolId: string): FaultText {
  return {
    message: `${toolId} has an answer from before its suspension that the present rules refuse.`,
    details: { reason: "answered" },
    hint: "Repeat the call. The kernel decides about each request again.",
    operatorHint: "The grants, the rules about requests or the revocations became narrower during the suspension.",
  };
}

/** The text for a key that stays used after its result is gone. */
export function resultGone(callId: string | null): FaultText {
  return {
    message: "The idempotency key was used before, and its result is no longer stored.",
    details: [{ path: "", keyword: "idempotencyKey", reason: "outcome-unknown", callId }],
    hint: "Check the effects of the first call. A call with a new key runs the tool again.",
  };
}

export function wrongForm(toolId: string, form: string, kind: string): FaultText {
  return { message: `${toolId} returned ${form}, its contract says ${kind}.` };
}

export function brokenContract(toolId: string, errors: readonly ValidationError[]): FaultText {
  const message = errors[0]?.message ?? "";
  return {
    message: `${toolId} broke its output contract: ${explanation(message)}`,
    details: { errors: errors.map(errorDetails) },
  };
}

export function normalizerRefused(toolId: string, normalizer: string, reason: string, path: string): FaultText {
  return {
    message: `The normalizer ${normalizer} has no normal form for the output of ${toolId}: ${reason}.`,
    details: { reason, path, normalizer },
    operatorHint: "Correct the normalizer, or name it only in tools whose output it supports.",
  };
}

export function logFailed(hasStarted: boolean): FaultText {
  return {
    message: hasStarted
      ? "The kernel could not write the audit log while the tool ran. The log lacks the tool's actions."
      : "The kernel cannot write the audit log, so no tool runs.",
    details: { ran: hasStarted },
    retryable: !hasStarted,
  };
}

export function kernelFailed(error: string): FaultText {
  return { message: "The kernel failed; the fault is not the caller's.", details: { error } };
}
