import { describeGrant } from "../../capability/describe.ts";
import { kernelScope } from "../../audit/scope.ts";
import { CallFault, Suspended } from "../../call/faults/fault.ts";
import * as texts from "../../call/faults/texts.ts";
import type { CarriedPart } from "../../call/record/carried-part.ts";
import { type ApprovalAnswer, isCurrent } from "../../call/steps/authorize.ts";
import type { Decided } from "../../call/steps/decide.ts";
import type { Clock } from "../../isolate/clock.ts";
import * as limits from "../../limits.ts";
import { shortTextOf } from "../../support/foreign.ts";
import { parseOwnJson } from "../../json/json.ts";
import type { ApprovalRequest, Approver } from "../../policy/approval/approval.ts";
import { type ApprovalKey, Approvals, keyText } from "../../policy/approval/standing-approvals.ts";
import { ask as askApprover, type AskOutcome, newApprovalId } from "../../policy/approval/ask.ts";
import type { PreviewQuestion } from "../../policy/decision/preview.ts";
import { noChanges, type StateChange } from "../../state/change.ts";
import type { Passkeys } from "../../policy/document/policy.ts";
import type { ApprovalProof } from "../../policy/proof/proof.ts";
import { standingTable } from "../../policy/approval/standing-table.ts";
import type { Extension, ExtensionContext } from "../../call/extension.ts";
import { isSuspendedOn } from "./suspended-approvals.ts";

/** The open question, or the answer that the call runs on: for the same question in another process. */
const approvalPart: CarriedPart<{
  readonly binding: string;
  /** The binding without the cause of the question: the time and the session of a call go on while it runs. */
  readonly callBinding: string;
  readonly approvalId: string;
  readonly approval: ApprovalProof | null;
}> = { name: "approvals" };

/**
 * Waits, asks, and can deny. `keyOf` binds an approval to session, caller, tool, arguments, grant,
 * policy, mode, calling tool and asking rules. Another value of any of them is another question.
 */
export function approvals(approver?: Approver): Extension {
  const table = standingTable();
  let context: ExtensionContext;
  let approvals: Approvals;
  return {
    name: "approvals",
    state: [table],
    open(given) {
      context = given;
      approvals = new Approvals(given.clock, given.steady, table);
    },
    ask(decided) {
      const known = knownAnswer(decided, approvals);
      if (known) return known;
      const revoked = revokedQuestion(decided);
      if (revoked) return revoked;
      const asked = decided.call.options.approver ?? approver;
      if (asked) return askNow(decided, asked, approvals, context);
      const hints = decided.call.parent ? noneWithin : noneAtAll;
      throw new CallFault("APPROVAL_DENIED", `${decided.verdict.reason} The kernel has no approver.`, hints);
    },
    onUnregister: ({ id }) => approvals.forget(id),
    onAuthority: () => approvals.checkOpen(),
    foresee: (decided) => knownAnswer(decided, approvals) ?? questionOf(decided),
    approvals: {
      list: () => approvals.list(),
      async revoke(approvalId, reason) {
        const changes = approvals.revoke(approvalId);
        if (!changes && !(await isSuspendedOn(approvalId, context.log))) return false;
        const why = shortTextOf(`Revoked: ${reason}`, 500);
        const resolved = { approvalId, answer: "deny", approver: "", reason: why } as const;
        context.log.record("approval.resolved", kernelScope, resolved, changes ?? noChanges);
        await context.log.flush();
        return true;
      },
    },
  };
}

const noneAtAll = { operatorHint: "Give the kernel, or this call, an approver." };
const noneWithin = {
  hint: "The approver of the outer call answers for that call alone.",
  operatorHint: "Give the kernel an approver, or the outer call a `nestedApprover`.",
};

/** A standing approval, or the one that the call ran on before it was suspended. */
function knownAnswer(decided: Decided, approvals: Approvals): ApprovalAnswer | undefined {
  const { call, decisionInput } = decided;
  const key = keyOf(decided);
  const before = call.hasStarted ? call.came(approvalPart) : undefined;
  // Where the policy demands a passkey, an approval without one does not count.
  const isEnough = (approval: ApprovalProof): boolean => !demandedOf(decided) || approval.passkey !== undefined;
  const isEnded = call.before?.since.unregistered.has(decided.tool.hash) === true;
  // It has started: no approval expires under it.
  if (before?.approval && !isEnded && before.callBinding === callText(key) && isEnough(before.approval))
    return runsOn(before.approval, Infinity);
  const found = approvals.find(key, decisionInput);
  return found && isEnough(found.approval) ? runsOn(found.approval, approvals.startsBeforeMs(found)) : undefined;

  function runsOn(approval: ApprovalProof, untilMs: number): ApprovalAnswer {
    const { approvalId } = approval;
    const hold = approvals.hold(approvalId, untilMs);
    call.defer(hold.release);
    call.carry(approvalPart, { ...bindingsOf(key), approvalId, approval });
    return { kind: "approved", approval, hold };
  }
}

/** The question that a suspended call waits for, where a person revoked it in the meantime. */
function revokedQuestion({ call }: Decided): ApprovalAnswer | undefined {
  const approvalId = call.came(approvalPart)?.approvalId;
  if (approvalId === undefined || !call.before?.since.revokedApprovals.has(approvalId)) return undefined;
  const fault = new CallFault("APPROVAL_DENIED", texts.approvalRevoked(approvalId));
  return { kind: "denied", reasonCode: "approval-denied", fault };
}

async function askNow(
  decided: Decided,
  approver: Approver,
  approvals: Approvals,
  context: ExtensionContext,
): Promise<ApprovalAnswer> {
  const { call, policy } = decided;
  const { log, clock, points } = context;
  const waiting = call.part();
  const done = approvals.ask(call.caller);
  if (!done) throw tooManyQuestions(call.caller);
  waiting.defer(done);
  const departure = points.onQuestion?.(decided);
  const key = keyOf(decided);
  const request = requestOf(decided, approvalIdOf(decided, key, clock), clock);
  const { approvalId, argsHash, reason, expiresAt } = request;
  call.carry(approvalPart, { ...bindingsOf(key), approvalId, approval: null });
  log.record("approval.requested", call.scope, { approvalId, argsHash, reason, expiresAt });
  await log.flush();
  const startedMs = clock.monotonicMs();
  // People take longer than tools: the time of the calls around this one stands still.
  const goOn = call.parent?.pause();
  if (goOn) waiting.defer(goOn);
  const hold = approvals.hold(approvalId);
  const held = call.defer(hold.release);
  const voided = new AbortController();
  waiting.defer(approvals.watch(() => isCurrent(decided, context) || voided.abort()));
  const { approvers } = policy.document;
  const passkeys = demandedOf(decided);
  const question = {
    request,
    approvers,
    passkeys,
    cancel: call.options.signal,
    aside: departure?.aside,
    revoked: hold.revoked,
    voided: voided.signal,
  };
  const outcome = await askApprover(approver, question, clock);
  waiting.close();
  if (outcome.kind !== "allowed") call.release(held);
  call.queuedMs += clock.monotonicMs() - startedMs;
  if (outcome.kind === "suspended" && departure) throw new Suspended(departure.put()); // And the question with it.
  recordOutcome(decided, approvalId, outcome, context);
  if (outcome.kind !== "allowed") return refusal(outcome, approvalId);
  const { approval } = outcome;
  const onApproved = (): readonly StateChange[] => {
    call.carry(approvalPart, { ...bindingsOf(key), approvalId, approval });
    return approvals.remember(key, decided.tool.id, approval);
  };
  return { kind: "approved", approval, hold, onApproved };
}

function tooManyQuestions(caller: string): CallFault {
  const message = `${limits.openQuestions} calls of ${JSON.stringify(caller)} wait for an approval already.`;
  const details = { bound: "approvals", limit: limits.openQuestions, retryAfterMs: limits.approvalMs };
  const hint = "Try again when one of them has an answer.";
  return new CallFault("RATE_LIMITED", message, { details, hint, retryable: true });
}

function recordOutcome({ call }: Decided, approvalId: string, outcome: AskOutcome, { log }: ExtensionContext): void {
  const resolved = (answer: "allow" | "deny" | "expired" | "cancelled", approver: string, reason: string): void =>
    log.record("approval.resolved", call.scope, { approvalId, answer, approver, reason });
  switch (outcome.kind) {
    case "allowed":
      return resolved("allow", outcome.approval.approver, "");
    case "edited":
      return resolved("deny", outcome.approver, "The arguments were edited.");
    case "denied":
      return resolved("deny", outcome.approver, outcome.reason);
    case "void":
      return resolved("cancelled", "", "The policy or the mode changed.");
    case "expired":
    case "cancelled":
      return resolved(outcome.kind, "", "");
    case "suspended":
  }
}

function refusal(outcome: Exclude<AskOutcome, { kind: "allowed" }>, approvalId: string): ApprovalAnswer {
  const details = { approvalId };
  switch (outcome.kind) {
    case "edited":
      return { kind: "edited", input: outcome.input };
    case "denied": {
      const why = outcome.reason === "" ? "" : ` Reason: ${outcome.reason}`;
      const message = `${outcome.approver || "The approver"} denied the call.${why}`;
      return {
        kind: "denied",
        reasonCode: "approval-denied",
        fault: new CallFault("APPROVAL_DENIED", message, { details }),
      };
    }
    case "expired": {
      const message = `No approver answered within ${limits.approvalMs / 1000} seconds.`;
      return {
        kind: "denied",
        reasonCode: "approval-expired",
        fault: new CallFault("APPROVAL_EXPIRED", message, { details, retryable: true }),
      };
    }
    case "void": {
      const fault = new CallFault("APPROVAL_DENIED", texts.approvalVoid("changed", approvalId));
      return { kind: "denied", reasonCode: "approval-void", fault };
    }
    case "cancelled":
    case "suspended":
      throw new CallFault("CANCELLED", "The caller cancelled while the approval was open.");
  }
}

/** The same question keeps its id in another process. */
function approvalIdOf({ call }: Decided, key: ApprovalKey, clock: Clock): string {
  const before = call.came(approvalPart);
  return before?.binding === keyText(key) ? before.approvalId : newApprovalId(clock);
}

function keyOf({ call, tool, inputHash: argsHash, grant, policy, mode, verdict }: Decided): ApprovalKey {
  const { sessionId, caller } = call;
  const toolHash = tool.hash;
  const within = call.parent?.toolHash ?? null;
  const asks = asksOf(verdict);
  return { sessionId, caller, toolHash, argsHash, grantHash: grant.hash, policyHash: policy.hash, mode, within, asks };
}

const asksOf = ({ reasonCode, determining }: Decided["verdict"]): readonly string[] => [
  reasonCode,
  ...determining.map(({ rule }) => rule.id),
];

function bindingsOf(key: ApprovalKey): { readonly binding: string; readonly callBinding: string } {
  return { binding: keyText(key), callBinding: callText(key) };
}

function callText(key: ApprovalKey): string {
  return keyText({ ...key, asks: [] });
}

function requestOf(decided: Decided, approvalId: string, clock: Clock): ApprovalRequest {
  const { callId, sessionId } = decided.call;
  const expiresAt = new Date(clock.now() + limits.approvalMs).toISOString();
  return { approvalId, callId, sessionId, ...questionOf(decided), expiresAt };
}

/** The passkeys of which one has to sign a yes, where the policy demands it. A policy that demands one has some. */
function demandedOf({ verdict, policy }: Decided): Passkeys | undefined {
  return verdict.obligations.includes("passkey") ? (policy.document.passkeys ?? noPasskeys) : undefined;
}

const noPasskeys: Passkeys = { rpId: "", origins: [], keys: [] };

/** Everything about it that is known before it is asked. */
function questionOf(decided: Decided): PreviewQuestion {
  const { call, tool, grant, policy, verdict, inputText, inputHash } = decided;
  const { manifest } = tool;
  const passkeys = demandedOf(decided);
  return {
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
    input: parseOwnJson(inputText),
    argsHash: inputHash,
    hasBody: manifest.body !== undefined,
    grantHash: grant.hash,
    policyHash: policy.hash,
    mode: decided.mode,
    asks: asksOf(verdict),
    ...(passkeys && {
      passkey: {
        rpId: passkeys.rpId,
        keys: passkeys.keys.map(({ approver, credentialId }) => ({ approver, credentialId })),
      },
    }),
    reason: reasonsOf(verdict),
  };
}

/** All of them: the person answers for each rule that asks. */
function reasonsOf({ reason, determining }: Decided["verdict"]): string {
  const others = determining.map(({ rule }) => rule.reason).filter((each) => !reason.startsWith(each));
  return [reason, ...new Set(others)].join(" ");
}
