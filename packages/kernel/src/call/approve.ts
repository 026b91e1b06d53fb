import type { AuditLog } from "../audit/log.ts";
import { describeGrant } from "../capability/describe.ts";
import type { Clock } from "../isolate/clock.ts";
import { limits } from "../limits.ts";
import type { JsonValue } from "../normalize/json.ts";
import type { ApprovalRequest, Approver } from "../policy/approval.ts";
import type { Approvals, Hold } from "../policy/approvals.ts";
import { ask, newApprovalId } from "../policy/ask.ts";
import type { Decision } from "../policy/policy.ts";
import type { Proof, ReasonCode } from "../policy/proof.ts";
import { decided } from "../policy/seal.ts";
import { type Authority, type Decided, prove } from "./authorize.ts";
import { next, type Step, type Stop, stop, suspended } from "./call.ts";

/** A call that is allowed, by the policy or by somebody who was asked. */
export interface Allowed extends Decided {
  readonly allowed: true;
  /** The approval that it runs on. Whoever has one must release it, on every way out. */
  readonly hold?: Hold;
}

/** A call whose arguments an approver changed: it starts again from their validation. */
export interface Edited {
  readonly ok: false;
  readonly edited: unknown;
  readonly proof: Proof;
}

export interface ApprovalPorts {
  readonly log: AuditLog;
  readonly clock: Clock;
  readonly approver: Approver | undefined;
  readonly approvals: Approvals;
  /** The authority at the time of the answer: if it changed, the answer is void. */
  readonly authority: () => Authority;
}

/** Step 5. At once where nobody has to be asked. */
export function approve(state: Decided, ports: ApprovalPorts): Step<Allowed> | Promise<Step<Allowed> | Edited> {
  const { decision, enforced } = state.verdict;
  if (decision === "allow" || !enforced) return next({ ...state, allowed: true });
  return decision === "deny" ? denied(state) : approveByAsking(state, ports);
}

async function approveByAsking(state: Decided, ports: ApprovalPorts): Promise<Step<Allowed> | Edited> {
  const { call, tool, verdict, policy, grant, inputHash: argsHash } = state;
  const { reason } = verdict;
  const { approver, approvals } = ports;
  const key = {
    sessionId: call.sessionId,
    caller: call.caller,
    toolHash: tool.hash,
    argsHash,
    grantHash: grant.hash,
    policyHash: policy.hash,
    mode: state.mode,
  };
  const remembered = approvals.find(key, state.decisionInput);
  if (remembered) {
    const hold = approvals.hold(remembered.approval.approvalId, remembered.untilMs);
    return next({ ...answered(state, ports, "approved", remembered.approval), hold });
  }
  if (!approver)
    return stop("APPROVAL_DENIED", `${reason} Nobody is there to approve it.`, {
      hint: "Give createKernel, or this call, an approver.",
    });
  const done = approvals.ask(call.caller);
  if (!done) {
    const message = `${limits.openQuestions} calls of ${JSON.stringify(call.caller)} wait for an approval already.`;
    const details = { bound: "approvals", limit: limits.openQuestions, retryAfterMs: limits.approvalMs };
    return stop("RATE_LIMITED", message, { details, hint: "Try again when one of them is answered.", retryable: true });
  }
  try {
    const result = await askFor(state, approver, ports);
    const approval = result.ok ? result.state.proof.approval : null;
    if (approval) approvals.remember(key, tool.id, approval);
    return result;
  } finally {
    done();
  }
}

/** A count that is used up is a matter of time; everything else stands until the policy changes. */
function denied({ verdict, retryAfterMs }: Decided): Stop {
  const { reason, reasonCode, determining } = verdict;
  const rules = determining.map(({ rule }) => rule.id);
  const isCount = retryAfterMs !== undefined;
  return stop(isCount && reasonCode === "rate" ? "RATE_LIMITED" : "POLICY_DENIED", reason, {
    details: { reasonCode, rules, ...(isCount && { retryAfterMs }) },
    hint: isCount
      ? `Try again in ${Math.ceil(retryAfterMs / 1000)} s at the earliest.`
      : "A changed policy could allow it.",
    retryable: isCount,
  });
}

async function askFor(state: Decided, approver: Approver, ports: ApprovalPorts): Promise<Step<Allowed> | Edited> {
  const { log, clock, approvals } = ports;
  const { call, policy } = state;
  const live = call.live?.asks(state);
  const request = requestOf(state, live?.approvalId ?? newApprovalId(clock), clock);
  const { approvalId, argsHash, reason, expiresAt } = request;
  log.record("approval.requested", call.scope, { approvalId, argsHash, reason, expiresAt });
  await log.flush();
  const startedMs = clock.monotonicMs();
  // People take longer than tools: the time of the calls around this one stands still.
  const goOn = call.parent?.pause();
  const hold = approvals.hold(approvalId);
  const { approvers } = policy.document;
  const { signal: cancel } = call.options;
  const outcome = await ask(approver, { request, approvers, cancel, aside: live?.aside, revoked: hold.revoked }, clock);
  goOn?.();
  if (outcome.kind !== "allowed") hold.release();
  call.queuedMs += clock.monotonicMs() - startedMs;
  const resolved = (answer: "allow" | "deny" | "expired" | "cancelled", who: string, why: string): void =>
    log.record("approval.resolved", call.scope, { approvalId, answer, approver: who, reason: why });

  switch (outcome.kind) {
    case "allowed": {
      resolved("allow", outcome.approval.approver, "");
      const isVoid = changed(state, ports, approvalId);
      if (isVoid) {
        hold.release();
        return isVoid;
      }
      return next({ ...answered(state, ports, "approved", outcome.approval), hold });
    }
    case "edited":
      resolved("deny", outcome.approver, "The arguments were edited.");
      return { ok: false, edited: outcome.input, proof: answered(state, ports, "approval-denied").proof };
    case "denied": {
      resolved("deny", outcome.approver, outcome.reason);
      const { proof } = answered(state, ports, "approval-denied");
      const why = outcome.reason === "" ? "" : ` Reason: ${outcome.reason}`;
      return stop("APPROVAL_DENIED", `${outcome.approver || "The approver"} denied the call.${why}`, {
        details: { approvalId },
        proof,
      });
    }
    case "expired": {
      resolved("expired", "", "");
      const { proof } = answered(state, ports, "approval-expired");
      const message = `Nobody answered within ${limits.approvalMs / 1000} seconds.`;
      return stop("APPROVAL_EXPIRED", message, { details: { approvalId }, retryable: true, proof });
    }
    case "cancelled":
      resolved("cancelled", "", "");
      return stop("CANCELLED", "The caller cancelled while the approval was open.");
    case "suspended":
      return suspended; // And the question with it.
  }
}

/** An approval that is void is a denial, with a proof of its own. */
function voided(state: Decided, ports: ApprovalPorts, approvalId: string, why: string): Stop {
  const { proof } = answered(state, ports, "approval-void");
  return stop("APPROVAL_DENIED", why, { details: { approvalId }, retryable: true, proof });
}

function changed(state: Decided, ports: ApprovalPorts, approvalId: string): Stop | undefined {
  const now = ports.authority();
  return now.policy.hash === state.policy.hash && now.mode === state.mode
    ? undefined
    : voided(
        state,
        ports,
        approvalId,
        "The policy or the mode changed while the approval was open; the approval is void.",
      );
}

/** Why a call that was allowed may not start after all: it waited, and the world went on. */
export function lapsed(state: Allowed, ports: ApprovalPorts): Stop | undefined {
  const { hold } = state;
  const approvalId = state.proof.approval?.approvalId ?? "";
  if (hold?.revoked.aborted)
    return voided(state, ports, approvalId, "The approval was revoked before the tool started.");
  if (hold && ports.clock.monotonicMs() >= hold.untilMs)
    return voided(state, ports, approvalId, "The approval expired while the call waited.");
  if (hold) return changed(state, ports, approvalId);
  const now = ports.authority();
  if (now.policy.hash === state.policy.hash && now.mode === state.mode) return undefined;
  return stop("POLICY_DENIED", "The policy or the mode changed while the call waited.", { retryable: true });
}

function requestOf(
  { call, tool, grant, policy, verdict, inputText, inputHash }: Decided,
  approvalId: string,
  clock: Clock,
): ApprovalRequest {
  const { manifest } = tool;
  return {
    approvalId,
    callId: call.callId,
    sessionId: call.sessionId,
    caller: call.caller,
    tool: tool.id,
    toolHash: tool.hash,
    title: manifest.title ?? manifest.name,
    description: manifest.description,
    tier: manifest.tier,
    risk: manifest.risk ?? null,
    effects: manifest.effects,
    grants: describeGrant(grant),
    // A copy, so that nothing the approver does to the arguments reaches the tool.
    input: JSON.parse(inputText) as JsonValue,
    argsHash: inputHash,
    hasBody: call.body !== undefined,
    policyHash: policy.hash,
    reason: verdict.reason,
    expiresAt: new Date(clock.now() + limits.approvalMs).toISOString(),
  };
}

/** The proof of an answer follows from the proof of the question. */
function answered(
  state: Decided,
  { log, clock }: ApprovalPorts,
  reasonCode: ReasonCode,
  approval: Proof["approval"] = null,
): Allowed {
  const decision: Decision = reasonCode === "approved" ? "allow" : "deny";
  const proof = prove(state, { ...state.verdict, decision, reasonCode }, clock.now(), state.proof.proofId, approval);
  log.record("policy.decided", state.call.scope, decided(proof));
  return { ...state, proof, allowed: true };
}
