import { uuidv7, randomHex } from "../../id/uuid.ts";
import type { Clock } from "../../isolate/clock.ts";
import * as limits from "../../limits.ts";
import { membersOf, shortTextOf } from "../../support/foreign.ts";
import { deepFreeze } from "../../json/freeze.ts";
import { type ApprovalRequest, type Approver, patternRule } from "./approval.ts";
import { askInTurn } from "./in-turn.ts";
import { readPattern } from "./pattern.ts";
import type { Passkeys } from "../document/policy.ts";
import type { ApprovalProof } from "../proof/proof.ts";
import { assertionFault, passkeyQuestion, readAssertion } from "./passkey.ts";

export type AskOutcome =
  | { readonly kind: "allowed"; readonly approval: ApprovalProof }
  | { readonly kind: "edited"; readonly approver: string; readonly input: unknown }
  | { readonly kind: "denied"; readonly approver: string; readonly reason: string }
  | { readonly kind: "expired" }
  | { readonly kind: "void" }
  | { readonly kind: "cancelled" }
  | { readonly kind: "suspended" };

/** A question, and what its answer is held against. */
export interface Question {
  readonly request: ApprovalRequest;
  /** Names of the approvers whose approval counts; `undefined`: every approver. */
  readonly approvers: readonly string[] | undefined;
  /** One of these has to sign a yes; `undefined`: the approver's word is enough. */
  readonly passkeys: Passkeys | undefined;
  /** Aborts when the caller gives up. */
  readonly cancel: AbortSignal | undefined;
  /** Aborts when the wait for the answer ends here. */
  readonly aside: AbortSignal | undefined;
  /** Aborts at a revocation before the answer. */
  readonly revoked: AbortSignal;
  /** Aborts when policy or mode went on, so that no answer counts. */
  readonly voided: AbortSignal;
}

/** Sends the request to the approver, and waits for at most `limits.approvalMs`. Never rejects. */
export async function ask(approver: Approver, question: Question, clock: Clock): Promise<AskOutcome> {
  const nobodyWaits = new AbortController();
  const cleanups: (() => void)[] = [];
  const onAbort = (signal: AbortSignal | undefined, act: () => void): void => {
    signal?.addEventListener("abort", act, { once: true });
    cleanups.push(() => signal?.removeEventListener("abort", act));
    if (signal?.aborted) act();
  };
  try {
    return await new Promise<AskOutcome>((resolve) => {
      const end = (outcome: AskOutcome): void => {
        resolve(outcome);
        // At once: a question that waits for its turn must not come in the meantime.
        nobodyWaits.abort("the approval is closed");
      };
      cleanups.push(clock.after(limits.approvalMs, () => end({ kind: "expired" })));
      onAbort(question.cancel, () => end({ kind: "cancelled" }));
      onAbort(question.voided, () => end({ kind: "void" }));
      onAbort(question.aside, () => end({ kind: "suspended" }));
      onAbort(question.revoked, () => end({ kind: "denied", approver: "", reason: "It was revoked." }));
      Promise.resolve()
        // A copy: the approver cannot change the subject of the approval.
        .then(() =>
          askInTurn(approver, JSON.parse(JSON.stringify(question.request)) as ApprovalRequest, nobodyWaits.signal),
        )
        .then((answer) => readAnswer(answer, question, clock))
        .then(end)
        // Its answer may throw as well, on reading.
        .catch(() => end({ kind: "denied", approver: "", reason: "The approver failed." }));
    });
  } finally {
    for (const cleanup of cleanups) cleanup();
  }
}

/**
 * Do not trust an approver either (a page, an HTTP client): only a well-formed approval by a named
 * approver allows; anything else is a denial.
 */
async function readAnswer(foreign: unknown, question: Question, clock: Clock): Promise<AskOutcome> {
  const { answer, approver, scope, reason, input, pattern, passkey } = membersOf(foreign);
  const who = shortTextOf(approver, limits.nameLength);
  const denied = (why: unknown): AskOutcome => ({
    kind: "denied",
    approver: who,
    reason: shortTextOf(why, 500),
  });
  if (answer === "deny") return denied(reason);
  if (who === "") return denied("The approver's answer was invalid.");
  if (question.approvers && !question.approvers.includes(who)) return denied("The policy does not name this approver.");
  if (answer === "edit") return { kind: "edited", approver: who, input };
  if (answer === "allow" && (scope === "once" || scope === "session" || scope === "pattern")) {
    const conditions = scope === "pattern" ? readPattern(question.request, pattern) : undefined;
    if (typeof conditions === "string") return denied(conditions);
    const signed = question.passkeys && readAssertion(passkey);
    const fault =
      question.passkeys && signed
        ? await assertionFault(question.passkeys, passkeyQuestion(question.request, scope, conditions), who, signed)
        : undefined;
    if (fault !== undefined) return denied(fault);
    const approval = proofOf(question.request, who, scope, clock);
    const isStanding = approval.scope === "pattern" && conditions;
    const rule = isStanding && { rule: patternRule(question.request, conditions, who) };
    const { caller, sessionId, expiresAt: askedUntil } = question.request;
    const evidence = signed && { passkey: { ...signed, caller, sessionId, askedUntil } };
    // It stands in proofs that are handed out, and in what decides about later calls.
    return { kind: "allowed", approval: deepFreeze({ ...approval, ...rule, ...evidence }) };
  }
  return denied("The approver's answer was invalid.");
}

function proofOf(
  { approvalId, argsHash, hasBody, expiresAt }: ApprovalRequest,
  approver: string,
  wanted: ApprovalProof["scope"],
  clock: Clock,
): ApprovalProof {
  const scope = hasBody ? "once" : wanted;
  const standingUntil = new Date(clock.now() + limits.standingApprovalMs).toISOString();
  return {
    approvalId,
    argsHash,
    approver,
    scope,
    nonce: randomHex(16),
    expiresAt: scope === "once" ? expiresAt : standingUntil,
  };
}

export function newApprovalId(clock: Clock): string {
  return uuidv7(clock.now());
}
