import type { CallError, Preview, Proof, ReasonCode } from "@keyhole/kernel";
import { isProof } from "@keyhole/kernel/policy";
import { type CallState, stateOf } from "../session/call-head.ts";
import type { ActiveRun } from "./run-state.ts";
import { type Wanted, wantedBy, wantedOf } from "./wanted.ts";

/** How the call stands, in a word or two. */
export function wordOf(run: ActiveRun): string {
  if (run.phase === "done" && run.verification?.verdict === "broken") return "Broken answer";
  if (run.phase === "running" && run.cancelling) return "Cancelling";
  return stateWords[stateOf(run)];
}

export const stateWords = {
  running: "Running",
  asks: "Waiting for approval",
  completed: "Completed",
  refused: "Refused",
  failed: "Failed",
  cancelled: "Cancelled",
  broken: "No answer",
  left: "Left",
} as const satisfies Record<CallState, string>;

/** The source of the decision, as one sentence; empty where there is none. */
export function decisionOf(run: ActiveRun): string {
  if (run.phase === "running")
    return stateOf(run) === "asks" ? "Somebody has to allow it first." : "It runs in its isolate.";
  if (run.phase === "broken") return "";
  const { proof } = run.result;
  if (!isProof(proof)) return run.result.ok ? "" : "It ended before the policy was asked.";
  return proof.decision === "allow" ? allowedBy(proof) : deniedBy(proof, wantedOf(run));
}

function allowedBy({ reasonCode, approval, posture, tier, determining, enforced }: Proof): string {
  const observed = enforced ? "" : " The policy only observes.";
  if (reasonCode === "approved" && approval !== null)
    return `Allowed for ${scopes[approval.scope] ?? approval.scope} by ${approval.approver}.${observed}`;
  if (reasonCode === "rule") return `Allowed by the rule ${rulesOf(determining)}.${observed}`;
  return `Allowed by the posture ${posture}, for tier ${tier}.${observed}`;
}

const scopes: Readonly<Record<string, string>> = { once: "one call", session: "this session", pattern: "a pattern" };

function deniedBy({ reasonCode, mode, determining }: Proof, wanted: readonly Wanted[]): string {
  if (reasonCode === "rule") return `Denied by the rule ${rulesOf(determining)}.`;
  if (reasonCode === "mode") return `Denied by the mode ${mode}, which no policy lifts.`;
  const accesses = textOf(wanted);
  const end = accesses === "" ? undefined : lacks[reasonCode];
  return end === undefined ? reasonTexts[reasonCode] : `${accesses} ${end}`;
}

/** Where the answer names the access, its end is a sentence about that access. */
const lacks: Readonly<Partial<Record<ReasonCode, string>>> = {
  "capability-denied": "is not granted. Nothing ran.",
  "target-denied": "would be refused. Nothing ran.",
  "request-denied": "was refused at the wall.",
};

export const reasonTexts = {
  rule: "A rule of the policy decided.",
  posture: "No rule matched; the posture's answer for this tier stands.",
  mode: "The kernel's mode tightened the answer.",
  "tool-mode": "The tool may not run in this mode.",
  "tool-approval": "The tool asks for approval on every call.",
  "tool-size": "The input is larger than the policy lets the tool take.",
  rate: "The policy's rate for the tool is used up.",
  "capability-denied": "A capability that the tool needs is not granted.",
  "rule-error": "A rule failed, and a failing deny rule denies.",
  approved: "An approver allowed it.",
  "approval-denied": "An approver refused it.",
  "approval-expired": "Nobody answered in time.",
  revoked: "A grant that the tool needs was revoked.",
  "request-denied": "A request of the running tool was refused.",
  "target-denied": "The request that the arguments name would be refused.",
  "approval-void": "The policy or the mode changed while an approver was asked.",
} as const satisfies Record<ReasonCode, string>;

/** The expected outcome of a call, in words, and the state whose mark shows it. */
export function foreseen(preview: Preview): {
  readonly state: CallState;
  readonly word: string;
  readonly why: string;
} {
  switch (preview.decision) {
    case "allow":
      return { state: "completed", word: "would be allowed", why: sourceOf(preview.proof) };
    case "ask":
      return { state: "asks", word: "would ask", why: sourceOf(preview.proof) };
    case "deny":
      return { state: "refused", word: "would be refused", why: lackOf(preview.error) };
  }
}

/** The access that is not granted says more in one line than the message of the error. */
function lackOf({ operatorHint, message }: Pick<CallError, "operatorHint" | "message">): string {
  const accesses = textOf(wantedBy(operatorHint));
  return accesses === "" ? message : `${accesses} is not granted`;
}

function textOf(wanted: readonly Wanted[]): string {
  return wanted.map(({ kind, target }) => `${kind} ${target}`.trim()).join(", ");
}

type Source = Pick<Proof, "reasonCode" | "determining" | "posture" | "tier">;

function sourceOf({ reasonCode, determining, posture, tier }: Source): string {
  if (reasonCode === "rule") return `rule ${rulesOf(determining)}`;
  if (reasonCode === "posture") return `posture ${posture}, tier ${tier}`;
  // An edge of another version may name a reason that this page does not know.
  return Object.hasOwn(reasonTexts, reasonCode) ? reasonTexts[reasonCode] : reasonCode;
}

function rulesOf(determining: Proof["determining"]): string {
  return determining.map(({ ruleId }) => ruleId).join(", ");
}
