import { quote } from "../../json/flat-text.ts";
import type { Policy } from "../document/make.ts";
import type { Decision } from "../document/policy.ts";
import type { Proof, ReasonCode } from "../proof/proof.ts";
import { countedRule } from "../decision/state-reads.ts";
import { tierNames } from "../../tool/manifest.ts";

/** A decision in plain words. */
export interface Explanation {
  /** The decision and its reason. */
  readonly summary: string;
  /** Further facts: counts, labels, errors of rules, the approval. */
  readonly facts: readonly string[];
  /** The changes that would give another answer. Empty for an `allow`. */
  readonly toChange: readonly string[];
}

const verbs = { allow: "allowed", ask: "asked about", deny: "denied" } as const satisfies Record<Decision, string>;

/** Explains a verified proof. With the policy of the decision, it can quote the rules. */
export function explain(proof: Proof, policy?: Policy): Explanation {
  const { decision, enforced, tool, reasonCode } = proof;
  const known = policy?.hash === proof.policyHash ? policy : undefined;
  const observed = enforced ? "" : " The policy only observes, so the kernel did not enforce this.";
  return {
    summary: `The call of ${tool} was ${verbs[decision]}: ${because(proof, known)}.${observed}`,
    facts: factsOf(proof),
    toChange: decision === "allow" ? [] : changes[reasonCode](proof, rulesOf(proof)),
  };
}

function rulesOf({ determining }: Proof): string {
  const ids = determining.map(({ ruleId }) => ruleId);
  return ids.length === 1 ? `rule ${ids[0]}` : `rules ${ids.join(", ")}`;
}

function because(proof: Proof, policy: Policy | undefined): string {
  const { reasonCode, posture, mode, tier, determining, approval, request } = proof;
  const reason = policy?.rules.find(({ rule }) => rule.id === determining[0]?.ruleId)?.rule.reason;
  const quoted = reason === undefined ? "" : ` (“${reason.replace(/\.$/, "")}”)`;
  const said = {
    rule: `${rulesOf(proof)} decided${quoted}`,
    "rule-error": `${rulesOf(proof)} could not be evaluated, and then counts as matching${quoted}`,
    posture: `no rule decided, and posture ${posture} says so for tier ${tier} (${tierNames[tier]})`,
    mode: `the kernel was in mode ${mode}, which restricts tools of this kind`,
    "tool-mode": `the tool may not run in mode ${mode}`,
    "tool-approval": "the tool, or the policy for it, demands approval of every call",
    "tool-size": "the input was larger than the policy lets the tool take",
    rate: "the rate that the policy sets for the tool was used up",
    "capability-denied": "the tool needs a capability without a grant",
    revoked: "a grant that the tool needs was revoked",
    approved: `${approval?.approver ?? "somebody"} approved it (${approval?.scope ?? "once"})`,
    "approval-denied": "the approver refused, or had no right to approve",
    "approval-expired": "no approver answered in time",
    "approval-void": "the approval was revoked or expired, or policy or mode changed, before the tool started",
    "request-denied": `the kernel refused a request of the running tool${requestText(request)}`,
    "target-denied": `the kernel would refuse the request that the arguments name${requestText(request)}`,
  } as const satisfies Record<ReasonCode, string>;
  return said[reasonCode];
}

function requestText(request: Proof["request"]): string {
  return request ? `: ${request.kind} of ${quote(request.target)} (${request.reason})` : "";
}

function factsOf({ stateReads, errors, approval, considered, decidedAt }: Proof): readonly string[] {
  const reads = stateReads.flatMap((read) => {
    const { key, value } = read;
    const rule = countedRule(read);
    if (key === "caller") return [`The caller was ${String(value)}.`];
    if (key === "labels")
      return [value === "" ? "The session carried no labels." : `The session carried: ${String(value)}.`];
    return rule === undefined ? [] : [`Rule ${rule} had counted ${String(value)} before this call.`];
  });
  return [
    `It was decided at ${decidedAt}; ${considered} rules were tried.`,
    ...reads,
    ...errors.map(({ ruleId, code }) => `Rule ${ruleId} failed with ${code}.`),
    ...(approval?.rule ? [`The approval became this rule: ${JSON.stringify(approval.rule.when)}.`] : []),
  ];
}

const otherRequest = ({ request }: Proof): readonly string[] => [
  request?.reason === "forbidden"
    ? "Another request, or a policy that does not forbid this one."
    : "Another request, or a grant that covers this one.",
];

const changes = {
  rule: ({ decision }, rules) => [
    `Other arguments, another caller or another time that ${rules} does not match.`,
    decision === "ask"
      ? "An approval."
      : `A policy in which ${rules} is narrower. No approval and no other rule lifts a deny.`,
  ],
  "rule-error": (_, rules) => [
    `Arguments of the type that ${rules} expects, or conditions that fit the tool's arguments.`,
  ],
  posture: ({ decision, tier, posture }) =>
    decision === "ask"
      ? ["An approval.", "A rule with effect allow that matches the call."]
      : [`Another posture: ${posture} denies tier ${tier}, and no rule lifts that.`],
  mode: ({ decision }) => ["Another mode.", ...(decision === "ask" ? ["An approval."] : [])],
  "tool-mode": () => ["Another mode, or other modes for the tool."],
  "tool-approval": () => ["An approval."],
  "tool-size": () => ["A smaller input, or a larger `sizes.inputBytes` for the tool."],
  rate: () => ["Time: the counted calls leave the window.", "A higher rate for the tool."],
  "capability-denied": () => ["A grant in the policy for this tool and caller, not narrowed away by the caller."],
  revoked: () => ["The grant restored: see grant.revoked in the log."],
  approved: () => [],
  "approval-denied": () => ["Another answer."],
  "approval-expired": () => ["An answer in time."],
  "approval-void": () => ["A new call, and a new approval."],
  "request-denied": otherRequest,
  "target-denied": otherRequest,
} as const satisfies Record<ReasonCode, (proof: Proof, rules: string) => readonly string[]>;
