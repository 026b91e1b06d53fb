import { type Proof, type ReasonCode, type ProofCheck, verifyProof } from "@keyhole/kernel";
import { type ReactNode, useState } from "react";
import { Badge, type Tone } from "../ui/Badge.tsx";
import { Button } from "../ui/Button.tsx";
import { CopyButton } from "../ui/CopyButton.tsx";
import { Json } from "../ui/Json.tsx";
import type { ActiveRun } from "./run-state.ts";

const decisionTones = { allow: "good", ask: "warn", deny: "bad" } as const satisfies Record<Proof["decision"], Tone>;

const reasons = {
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
  "approval-void": "The policy or the mode changed while an approver was asked.",
} as const satisfies Record<ReasonCode, string>;

export function ProofView({ run }: { readonly run: ActiveRun }): ReactNode {
  const decisions = run.events.filter((event) => event.type === "policy.decided");
  // While somebody is asked, the question's proof is in the log; all others come with the result.
  const proof = (run.phase === "done" ? run.result.proof : undefined) ?? decisions.at(-1)?.payload.proof;
  if (proof === undefined)
    return (
      <p className="hint">
        {decisions.length === 0
          ? "Nothing was decided: the call ended before the policy was asked."
          : "The proof comes with the result."}
      </p>
    );
  const logged = decisions.map(({ payload }) => payload.proofHash);
  return <ProofFacts key={proof.hash} proof={proof} logged={logged} />;
}

function ProofFacts({ proof, logged }: VerifyProps): ReactNode {
  const hashes = [
    ["Proof", proof.hash],
    ["Tool", proof.toolHash],
    ["Input", proof.inputHash],
    ["Grant", proof.grantHash],
    ["Policy", proof.policyHash],
  ] as const;
  return (
    <div className="proof">
      <p className="proof-decision">
        <Badge tone={decisionTones[proof.decision]}>{proof.decision}</Badge>
        <span>{reasons[proof.reasonCode]}</span>
      </p>
      <dl className="facts">
        <dt>Rules</dt>
        <dd>
          {proof.determining.length === 0
            ? `None of ${proof.considered} matched`
            : proof.determining.map(({ ruleId }) => ruleId).join(", ")}
        </dd>
        <dt>Posture</dt>
        <dd>
          {proof.posture}, mode {proof.mode}, tier {proof.tier}
        </dd>
        {proof.approval !== null && (
          <>
            <dt>Approval</dt>
            <dd>
              {proof.approval.scope}, by {proof.approval.approver}
            </dd>
          </>
        )}
        {hashes.map(([name, hash]) => (
          <Hash key={name} name={name} hash={hash} />
        ))}
      </dl>
      <Verify proof={proof} logged={logged} />
      <details className="details">
        <summary>The whole proof</summary>
        <Json value={proof} label="The whole proof" />
      </details>
    </div>
  );
}

function Hash({ name, hash }: { readonly name: string; readonly hash: string }): ReactNode {
  return (
    <>
      <dt>{name} hash</dt>
      <dd className="hash">
        <code>{hash}</code>
        <CopyButton text={hash} what={`the ${name.toLowerCase()} hash`} />
      </dd>
    </>
  );
}

interface VerifyProps {
  readonly proof: Proof;
  /** Hashes of the proofs that the call's own events carry. */
  readonly logged: readonly string[];
}

/** Computed here, in the page: the kernel is not asked. */
function Verify({ proof, logged }: VerifyProps): ReactNode {
  const [check, setCheck] = useState<ProofCheck | undefined>(undefined);
  const isLogged = logged.includes(proof.hash);
  return (
    <>
      <div className="actions">
        <Button icon="shield" onPress={() => setCheck(verifyProof(proof))}>
          Verify in this page
        </Button>
        <CopyButton text={JSON.stringify(proof)} what="the proof" />
      </div>
      <output className="verdict" data-good={(check?.ok === true && isLogged) || undefined}>
        {check !== undefined && (check.ok ? (isLogged ? matches : onlyMatches) : check.reason)}
      </output>
    </>
  );
}

const matches = "The hash matches, and the log has the same proof.";
const onlyMatches = "The hash matches, but the log has no such proof.";
