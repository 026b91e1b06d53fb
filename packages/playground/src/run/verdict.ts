import type { Preview, Proof, ReasonCode } from "@keyhole/kernel";
import { type CallState, stateOf } from "../session/call-head.ts";
import type { ActiveRun } from "./run-state.ts";

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
      return {
        state: "refused",
        word: "would be refused",
        why: preview.error.message.replace(/^\S+@\S+ (?=needs )/, "it "),
      };
  }
}

type Source = Pick<Proof, "reasonCode" | "determining" | "posture" | "tier">;

function sourceOf({ reasonCode, determining, posture, tier }: Source): string {
  if (reasonCode === "rule") return `rule ${rulesOf(determining)}`;
  if (reasonCode === "posture") return `posture ${posture}, tier ${tier}`;
  // An edge of another version may name a reason that this page does not know.
  return Object.hasOwn(reasonTexts, reasonCode) ? reasonTexts[reasonCode] : reasonCode;
}

/** The rules that decided. */
export function rulesOf(determining: Proof["determining"]): string {
  return determining.map(({ ruleId }) => ruleId).join(", ");
}
