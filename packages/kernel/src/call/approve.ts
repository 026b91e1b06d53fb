import type { AuditLog } from "../audit/log.ts";
import { describeCapability, grantedKinds } from "../capability/grant.ts";
import type { Clock } from "../isolate/clock.ts";
import { limits } from "../limits.ts";
import type { JsonValue } from "../normalize/json.ts";
import type { ApprovalRequest, Approver } from "../policy/approval.ts";
import { ask, newApprovalId, type SessionApprovals } from "../policy/ask.ts";
import type { Decision } from "../policy/policy.ts";
import type { Proof, ReasonCode } from "../policy/proof.ts";
import { decided } from "../policy/seal.ts";
import { type Authority, type Decided, prove } from "./authorize.ts";
import { next, type Step, stop } from "./call.ts";

/** A call that is allowed, by the policy or by somebody who was asked. */
export interface Allowed extends Decided {
  readonly allowed: true;
}

export interface ApprovalPorts {
  readonly log: AuditLog;
  readonly clock: Clock;
  readonly approver: Approver | undefined;
  readonly approvals: SessionApprovals;
  /** The authority at the time of the answer: if it changed, the answer is void. */
  readonly authority: () => Authority;
}

/** Step 5. */
export async function approve(state: Decided, ports: ApprovalPorts): Promise<Step<Allowed>> {
  const { call, tool, verdict, policy, grant, inputHash: argsHash } = state;
  const { decision, reason, reasonCode, determining } = verdict;
  if (decision === "allow") return next({ ...state, allowed: true });
  if (decision === "deny") {
    const rules = determining.map(({ rule }) => rule.id);
    return stop("POLICY_DENIED", reason, { details: { reasonCode, rules }, hint: "A changed policy could allow it." });
  }
  const { approver, approvals } = ports;
  const key = {
    sessionId: call.sessionId,
    caller: call.caller,
    toolHash: tool.hash,
    argsHash,
    grantHash: grant.hash,
    policyHash: policy.hash,
  };
  const remembered = approvals.find(key);
  if (remembered) return next(answered(state, ports, "approved", remembered));
  if (!approver)
    return stop("APPROVAL_DENIED", `${reason} Nobody is there to approve it.`, {
      hint: "Give createKernel, or this call, an approver.",
    });
  const result = await askFor(state, approver, ports);
  const approval = result.ok ? result.state.proof.approval : null;
  if (approval?.scope === "session") approvals.remember(key, approval);
  return result;
}

async function askFor(state: Decided, approver: Approver, ports: ApprovalPorts): Promise<Step<Allowed>> {
  const { log, clock } = ports;
  const { call } = state;
  const request = requestOf(state, clock);
  const { approvalId, argsHash, reason, expiresAt } = request;
  log.record("approval.requested", call.scope, { approvalId, argsHash, reason, expiresAt });
  await log.flush();
  const startedMs = clock.monotonicMs();
  const outcome = await ask(approver, request, clock, call.options.signal);
  call.queuedMs += clock.monotonicMs() - startedMs;
  const resolved = (answer: "allow" | "deny" | "expired" | "cancelled", who: string, why: string): void =>
    log.record("approval.resolved", call.scope, { approvalId, answer, approver: who, reason: why });

  switch (outcome.kind) {
    case "allowed": {
      resolved("allow", outcome.approval.approver, "");
      const now = ports.authority();
      if (now.policy.hash !== state.policy.hash || now.mode !== state.mode) {
        const { proof } = answered(state, ports, "approval-void");
        const message = "The policy or the mode changed while the approval was open; the approval is void.";
        return stop("APPROVAL_DENIED", message, { details: { approvalId }, retryable: true, proof });
      }
      return next(answered(state, ports, "approved", outcome.approval));
    }
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
  }
}

function requestOf(
  { call, tool, grant, policy, verdict, inputText, inputHash }: Decided,
  clock: Clock,
): ApprovalRequest {
  const { manifest } = tool;
  const kinds = grantedKinds(grant);
  return {
    approvalId: newApprovalId(clock),
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
    grants: (grant.layers.at(-1) ?? []).filter(({ kind }) => kinds.includes(kind)).map(describeCapability),
    // A copy, so that nothing the approver does to the arguments reaches the tool.
    input: JSON.parse(inputText) as JsonValue,
    argsHash: inputHash,
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
  const proof = prove(state, { ...state.verdict, decision, reasonCode }, clock, state.proof.proofId, approval);
  log.record("policy.decided", state.call.scope, ...decided(proof));
  return { ...state, proof, allowed: true };
}
