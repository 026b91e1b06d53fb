import type { Counters } from "../../policy/decision/counters.ts";
import type { ApprovalProof, Proof, ReasonCode } from "../../policy/proof/proof.ts";
import { noChanges, type StateChange } from "../../state/change.ts";
import type { MaybePromise } from "../../support/maybe-promise.ts";
import type { Registry } from "../../tool/registry.ts";
import type { Lapse } from "../faults/decision-texts.ts";
import { CallFault, Reentry } from "../faults/fault.ts";
import * as texts from "../faults/texts.ts";
import { unanswered } from "../questions.ts";
import type { Authority } from "./check-grants.ts";
import { type DecidePorts, type Decided, isDenied, proofPart, wouldPass } from "./decide.ts";
import { type ProofPorts, recordDecision } from "./prove.ts";

declare class Made {
  #authorize: never;
}
/** A call that may run, by the policy or by an approval. */
export interface Allowed extends Decided, Made {
  /** The approval that it runs on; absent where the policy alone allowed the call. */
  readonly hold?: HeldApproval;
}

/** An approval in use. The extension that gave it has deferred its release on the call. */
export interface HeldApproval {
  /** Aborts when the approval is revoked, also while the tool runs. */
  readonly revoked: AbortSignal;
  /** On the monotonic clock: by then the tool has to have started. */
  readonly untilMs: number;
}

type Refusal = "approval-denied" | "approval-expired" | "approval-void";

/** The possible answers of an approver. Only this file makes the next state. */
export type ApprovalAnswer =
  | {
      readonly kind: "approved";
      readonly approval: ApprovalProof;
      readonly hold: HeldApproval;
      /**
       * The changes of state for the event of the answer. Called in the turn in which the answer
       * takes effect; not called for a void one.
       */
      readonly onApproved?: () => readonly StateChange[];
    }
  | { readonly kind: "edited"; readonly input: unknown }
  | { readonly kind: "denied"; readonly reasonCode: Refusal; readonly fault: CallFault };

/** Answers the question of the policy's `ask`. Throws a fault where the question ends without one. */
export type AskForApproval = (decided: Decided) => MaybePromise<ApprovalAnswer>;

export interface AuthorizePorts extends ProofPorts, Pick<DecidePorts, "labels"> {
  readonly ask: AskForApproval | undefined;
  /** If it changed since the decision, an answer is void. */
  readonly authority: () => Authority;
  readonly counters: Counters;
  readonly registry: Pick<Registry, "has">;
}

/** Step 5. Synchronous without a question: a wait for nothing costs more than the step. */
export function authorize(state: Decided, ports: AuthorizePorts): MaybePromise<Allowed> {
  const { verdict } = state;
  assertApprovalStands(state);
  if (isDenied(verdict)) throw denied(state, ports.counters);
  if (verdict.decision !== "ask" || !verdict.enforced) return state as Allowed;
  if (!ports.ask) throw unanswered("approval");
  return askFor(state, ports.ask, ports);
}

async function askFor(state: Decided, ask: AskForApproval, ports: AuthorizePorts): Promise<Allowed> {
  const { call, charge } = state;
  const answer = await ask(state);
  if (answer.kind === "approved") return allowed(state, answer, ports);
  const reasonCode = answer.kind === "denied" ? answer.reasonCode : "approval-denied";
  const proof = answerProof(state, reasonCode, ports);
  call.decided(proof);
  if (answer.kind === "denied") throw answer.fault;
  if (call.hasStarted) throw new CallFault("APPROVAL_DENIED", texts.editedLate);
  if (charge) call.release(charge);
  throw new Reentry(answer.input, proof.proofId);
}

/** Throws for a call whose tool went while it waited. */
function assertRegistered({ tool }: Decided, { registry }: AuthorizePorts): void {
  if (registry.has(tool)) return;
  throw new CallFault("TOOL_NOT_FOUND", texts.unregistered(tool.id));
}

function allowed(
  state: Decided,
  { approval, hold, onApproved }: Extract<ApprovalAnswer, { kind: "approved" }>,
  ports: AuthorizePorts,
): Allowed {
  const { call } = state;
  assertRegistered(state, ports);
  if (!isCurrent(state, ports) || !wouldPass(state, ports)) throw voided(state, approval.approvalId, "changed", ports);
  const proof = answerProof(state, "approved", ports, approval, onApproved?.());
  call.carry(proofPart, proof);
  return call.reach({ ...state, proof, hold } as Allowed);
}

/** The proof of an answer follows from the proof of the question. */
function answerProof(
  state: Decided,
  reasonCode: ReasonCode,
  ports: AuthorizePorts,
  approval: Proof["approval"] = null,
  changes: readonly StateChange[] = noChanges,
): Proof {
  const decision = approval ? "allow" : "deny";
  const parentProofId = state.proof.proofId;
  return recordDecision(state, { ...state.verdict, decision, reasonCode }, ports, { parentProofId, approval, changes });
}

/** A count that is used up is a matter of time; everything else stands until the policy changes. */
function denied({ verdict }: Decided, counters: Counters): CallFault {
  const { reason, reasonCode, determining, notPlain } = verdict;
  const rules = determining.map(({ rule }) => rule.id);
  const retryAfterMs = retryAfter(verdict, counters);
  const code = retryAfterMs !== undefined && reasonCode === "rate" ? "RATE_LIMITED" : "POLICY_DENIED";
  return new CallFault(code, texts.denied({ reason, reasonCode, rules, retryAfterMs, notPlain }));
}

/** How long until the first of the counts falls, where counts alone denied. */
function retryAfter({ determining, charges }: Decided["verdict"], counters: Counters): number | undefined {
  if (determining.length === 0 || !determining.every(({ count }) => count)) return undefined;
  const spent = charges.filter(({ ruleHash }) => determining.some(({ hash }) => hash === ruleHash));
  // An uncountable call does not pass with time.
  return spent.length < determining.length ? undefined : Math.max(...spent.map((each) => counters.retryAfterMs(each)));
}

/** Ends a resumed call whose approval was revoked, under every present policy. */
function assertApprovalStands({ call }: Decided): void {
  const approvalId = call.came(proofPart)?.approval?.approvalId;
  if (approvalId === undefined || !call.before?.since.revokedApprovals.has(approvalId)) return;
  throw new CallFault("APPROVAL_DENIED", texts.approvalRevoked(approvalId));
}

/** Whether policy and mode are those of the decision. */
export function isCurrent({ policy, mode }: Decided, { authority }: Pick<AuthorizePorts, "authority">): boolean {
  const now = authority();
  return now.policy.hash === policy.hash && now.mode === mode;
}

/** An approval that is void is a denial, with a proof of its own. */
function voided(state: Decided, approvalId: string, why: Lapse, ports: AuthorizePorts): CallFault {
  state.call.decided(answerProof(state, "approval-void", ports));
  return new CallFault("APPROVAL_DENIED", texts.approvalVoid(why, approvalId));
}

/** Throws where a call waited between its decision and another call's result, and the policy or the mode went on. */
export function assertUnchanged(state: Decided, ports: Pick<AuthorizePorts, "authority">): Decided {
  if (isCurrent(state, ports)) return state;
  throw new CallFault("POLICY_DENIED", texts.authorityChanged);
}

/** Throws where an allowed call may not start after all: it waited, and the world went on. */
export function assertCurrent<State extends Allowed>(state: State, ports: AuthorizePorts): State {
  const { hold, proof } = state;
  assertRegistered(state, ports);
  if (hold) {
    const why = lapsed(hold, state, ports);
    if (why === undefined) return state;
    throw voided(state, proof.approval?.approvalId ?? "", why, ports);
  }
  assertUnchanged(state, ports);
  return state;
}

/** The same for a call whose run has not begun: from its start on the gate sees the session and the time at each request. */
export function assertStartable<State extends Allowed>(state: State, ports: AuthorizePorts): State {
  assertCurrent(state, ports);
  if (wouldPass(state, ports)) return state;
  if (state.hold) throw voided(state, state.proof.approval?.approvalId ?? "", "changed", ports);
  throw new CallFault("POLICY_DENIED", texts.authorityChanged);
}

function lapsed({ revoked, untilMs }: HeldApproval, state: Allowed, ports: AuthorizePorts): Lapse | undefined {
  if (revoked.aborted) return "revoked";
  if (ports.clock.monotonicMs() >= untilMs) return "expired";
  return isCurrent(state, ports) ? undefined : "changed";
}
