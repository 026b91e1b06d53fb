import type { Proof, ReasonCode } from "@keyhole/kernel";
import { isProof } from "@keyhole/kernel/policy";
import { stateOf } from "../session/call-head.ts";
import type { ActiveRun } from "./run-state.ts";
import { reasonTexts, rulesOf } from "./verdict.ts";
import { type Wanted, wantedOf } from "./wanted.ts";

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
  const accesses = wanted.map(({ kind, target }) => `${kind} ${target}`.trim()).join(", ");
  const end = accesses === "" ? undefined : lacks[reasonCode];
  return end === undefined ? reasonTexts[reasonCode] : `${accesses} ${end}`;
}

/** Where the answer names the access, its end is a sentence about that access. */
const lacks: Readonly<Partial<Record<ReasonCode, string>>> = {
  "capability-denied": "is not granted. Nothing ran.",
  "target-denied": "would be refused. Nothing ran.",
  "request-denied": "was refused at the wall.",
};
