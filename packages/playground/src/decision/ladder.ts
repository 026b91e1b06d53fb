import type { AuditEvent, CallResult, Proof, ReasonCode } from "@keyhole/kernel";
import { isAnswer, isProof, postureAnswer } from "@keyhole/kernel/policy";
import { isKnown } from "@keyhole/worker-host/edge-protocol";
import type { ActiveRun } from "../run/run-state.ts";
import { reasonTexts } from "../run/verdict.ts";

export const rungNames = [
  "input",
  "grants",
  "mode",
  "posture",
  "rules",
  "tool",
  "target",
  "approval",
  "requests",
] as const;
export type RungName = (typeof rungNames)[number];

/** One step of a decision, in the order in which the kernel takes them. */
export interface Rung {
  readonly name: RungName;
  readonly said: string;
  /** `asks`: it demanded a person. `decides`: the answer is its. `unreached`: an earlier step ended the call. */
  readonly state: "passed" | "asks" | "decides" | "unreached";
}

/** The decision of a call, and the request before it. */
export interface Decided {
  /** `undefined`: the call ended before the policy decided. */
  readonly proof: Proof | undefined;
  /** The decision to ask a person. */
  readonly question: Proof | undefined;
}

const rungOf = {
  rule: "rules",
  "rule-error": "rules",
  rate: "rules",
  posture: "posture",
  mode: "mode",
  "tool-mode": "mode",
  "tool-approval": "tool",
  "tool-size": "tool",
  "capability-denied": "grants",
  revoked: "grants",
  approved: "approval",
  "approval-denied": "approval",
  "approval-expired": "approval",
  "approval-void": "approval",
  "request-denied": "requests",
  "target-denied": "target",
} as const satisfies Record<ReasonCode, RungName>;

/** `undefined`: the decision is still to come. */
export function decidedIn(run: ActiveRun): Decided | undefined {
  const proofs = ownEvents(run).flatMap((event) => {
    const logged = event.type === "policy.decided" ? event.payload.proof : undefined;
    return isProof(logged) ? [logged] : [];
  });
  const question = proofs.find(({ decision, enforced }) => decision === "ask" && enforced);
  if (run.phase !== "done") return proofs.length === 0 ? undefined : { proof: proofs.at(-1), question };
  const { proof } = run.result;
  return { proof: isProof(proof) ? proof : undefined, question };
}

function ownEvents({ events }: ActiveRun): readonly Extract<AuditEvent, unknown>[] {
  return events.filter(({ callId }) => callId === events[0]?.callId).filter(isKnown);
}

/** The steps of a decision. The view shows all rules that one decision weighs: the strictest of mode, posture, rules and tool stands. */
export function ladderOf(run: ActiveRun, { proof, question }: Decided): readonly Rung[] {
  const failure = run.phase === "done" && !run.result.ok ? run.result : undefined;
  if (proof === undefined) return unproven(failure);
  const weighed = question ?? proof;
  const deciding = rungOf[proof.reasonCode];
  const asking = question === undefined || question.hash === proof.hash ? undefined : rungOf[question.reasonCode];
  const isOver = proof.decision === "deny" && proof.enforced;
  return rungNames.flatMap((name): Rung[] => {
    const isDeciding = name === deciding;
    if (isOver && !isDeciding && !isReached(name, deciding, question))
      return [{ name, said: unreachedText, state: "unreached" }];
    const said = texts[name]({ run, proof, weighed, isDeciding: isDeciding || name === asking });
    if (said === undefined) return [];
    const isAsk = name === asking || (isDeciding && proof.decision === "ask");
    return [{ name, said, state: isAsk ? "asks" : isDeciding ? "decides" : "passed" }];
  });
}

const unreachedText = "Not reached.";

/** Weighed together: none of them comes before another. */
const together: ReadonlySet<RungName> = new Set(["mode", "posture", "rules", "tool"]);

function isReached(name: RungName, deciding: RungName, question: Proof | undefined): boolean {
  if (name === "approval" && question !== undefined) return true;
  if (together.has(name) && together.has(deciding)) return true;
  return rungNames.indexOf(name) < rungNames.indexOf(deciding);
}

function unproven(failure: Extract<CallResult, { ok: false }> | undefined): readonly Rung[] {
  const said = failure?.error.message ?? "The call ended before the policy was asked.";
  return [
    { name: "input", said, state: "decides" },
    ...rungNames
      .slice(1)
      .filter(isAlwaysShown)
      .map((name): Rung => ({ name, said: unreachedText, state: "unreached" })),
  ];
}

function isAlwaysShown(name: RungName): boolean {
  return name !== "tool" && name !== "target";
}

interface Telling {
  readonly run: ActiveRun;
  readonly proof: Proof;
  /** The proof with the decision of mode, posture and rules: that of the question, where the kernel asked a person. */
  readonly weighed: Proof;
  readonly isDeciding: boolean;
}

/** `undefined`: the step had no part in this call. */
const texts = {
  input: () => "It fits the schema of the tool.",
  grants: ({ run, proof, isDeciding }) => grantsText(run, proof, isDeciding),
  mode: ({ weighed, isDeciding }) =>
    isDeciding ? reasonTexts[weighed.reasonCode] : `${weighed.mode} restricts nothing here.`,
  posture: ({ weighed: { tier, posture } }) =>
    `Tier ${tier} under the posture ${posture}: ${postureAnswer(posture, tier)}.`,
  rules: ({ weighed, isDeciding }) => rulesText(weighed, isDeciding),
  tool: ({ weighed, isDeciding }) => (isDeciding ? reasonTexts[weighed.reasonCode] : undefined),
  target: ({ proof, isDeciding }) => (isDeciding ? requestText(proof) : undefined),
  approval: ({ proof, isDeciding }) => approvalText(proof, isDeciding),
  requests: ({ run, proof, isDeciding }) => (isDeciding ? requestText(proof) : requestsText(run)),
} as const satisfies Record<RungName, (telling: Telling) => string | undefined>;

function grantsText(run: ActiveRun, { reasonCode }: Proof, isDeciding: boolean): string {
  const checked = ownEvents(run).find((event) => event.type === "capability.checked");
  const { granted = [], missing = [] } = checked?.type === "capability.checked" ? checked.payload : {};
  if (isDeciding && reasonCode === "revoked") return reasonTexts.revoked;
  if (isDeciding) return `${missing.join(", ")} is not granted.`;
  return granted.length === 0 ? "It needs none." : `Granted: ${granted.join(", ")}.`;
}

function rulesText({ determining, considered, reasonCode }: Proof, isDeciding: boolean): string {
  const ids = determining.map(({ ruleId }) => ruleId).join(", ");
  if (isDeciding)
    return reasonCode === "rule" ? `${ids} decided, of ${considered} tried.` : `${ids}: ${reasonTexts[reasonCode]}`;
  return considered === 0 ? "No rule concerns this call." : `${considered} tried, none decided.`;
}

function approvalText({ approval, reasonCode, decision }: Proof, isDeciding: boolean): string {
  if (approval !== null && reasonCode === "approved") return `${approval.approver} allowed it: ${approval.scope}.`;
  if (isDeciding) return reasonTexts[reasonCode];
  return decision === "ask" ? "A person is asked now." : isAnswer(reasonCode) ? "" : "Nobody had to be asked.";
}

function requestText({ request, reasonCode }: Proof): string {
  return request === undefined ? reasonTexts[reasonCode] : `${request.kind} of ${request.target}: ${request.reason}.`;
}

function requestsText(run: ActiveRun): string {
  const uses = ownEvents(run).flatMap((event) => (event.type === "capability.used" ? [event.payload.outcome] : []));
  const stopped = uses.filter((outcome) => outcome === "refused").length;
  if (uses.length === 0) return "It made no request.";
  return `${uses.length - stopped} went through the wall, ${stopped} ${stopped === 1 ? "was" : "were"} stopped.`;
}
