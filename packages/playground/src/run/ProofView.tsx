import { type Proof, type ProofCheck, verifyProofDigest, visible } from "@keyhole/kernel";
import { type Judged, verdictLine } from "@keyhole/kernel/audit";
import { isProof } from "@keyhole/kernel/policy";
import { type ReactNode, useState } from "react";
import type { Governance } from "../client/kernel-client.ts";
import { Badge, type Tone } from "../ui/Badge.tsx";
import { Button } from "../ui/Button.tsx";
import { CopyButton } from "../ui/CopyButton.tsx";
import { Fact, HashFact } from "../ui/Fact.tsx";
import { Json } from "../ui/Json.tsx";
import { saveFile } from "../ui/save.ts";
import { Notice } from "../ui/Notice.tsx";
import { evidenceOf } from "./evidence.ts";
import { isKnown } from "@keyhole/worker-host/edge-protocol";
import type { ActiveRun } from "./run-state.ts";
import { reasonTexts } from "./verdict.ts";

const decisionTones = { allow: "good", ask: "warn", deny: "bad" } as const satisfies Record<Proof["decision"], Tone>;

interface ProofViewProps {
  readonly run: ActiveRun;
  readonly governance: Governance | undefined;
}

export function ProofView({ run, governance }: ProofViewProps): ReactNode {
  const decisions = run.events.filter((event) => event.type === "policy.decided").filter(isKnown);
  // While a person decides, the question's proof is in the log, and while the tool runs those of its refused requests. The call's own comes with the result.
  const pending = decisions.findLast(({ payload }) => payload.reasonCode !== "request-denied");
  const proof = (run.phase === "done" ? run.result.proof : undefined) ?? pending?.payload.proof;
  if (proof === undefined)
    return (
      <p className="hint">
        {decisions.length === 0
          ? "Nothing was decided: the call ended before the policy was asked."
          : "The proof comes with the result."}
      </p>
    );
  if (!isProof(proof))
    return (
      <Notice tone="warn" title="This page does not know the form of the proof">
        <p>The kernel sent something else than a proof, or a proof of another version.</p>
        <Json value={proof} label="The proof as it was sent" />
      </Notice>
    );
  const logged = decisions.map(({ payload }) => payload.proofHash);
  const save = async (): Promise<void> =>
    saveFile(
      `keyhole-evidence-${proof.callId}.json`,
      JSON.stringify(await evidenceOf(run, proof, governance), undefined, 2),
    );
  return <ProofFacts key={proof.hash} proof={proof} logged={logged} onSave={() => void save()} />;
}

function ProofFacts({ proof, logged, onSave }: VerifyProps): ReactNode {
  const hashes = [
    ["Proof", proof.hash],
    ["Tool", proof.toolHash],
    ["Input", proof.inputHash],
    ["Grant", proof.grantHash],
    ["Policy", proof.policyHash],
  ] as const;
  return (
    <div className="stack-l proof">
      <p className="line proof-decision">
        <Badge tone={decisionTones[proof.decision]}>{proof.decision}</Badge>
        <span>{reasonTexts[proof.reasonCode]}</span>
      </p>
      <dl className="facts">
        <Fact name="Rules">
          {proof.determining.length === 0
            ? `None of ${proof.considered} matched`
            : visible(proof.determining.map(({ ruleId }) => ruleId).join(", "))}
        </Fact>
        <Fact name="Posture">
          {proof.posture}, mode {proof.mode}, tier {proof.tier}
        </Fact>
        {proof.approval !== null && (
          <Fact name="Approval">
            {proof.approval.scope}, by {visible(proof.approval.approver)}
          </Fact>
        )}
        {hashes.map(([name, hash]) => (
          <HashFact key={name} name={`${name} hash`} hash={hash} what={`the ${name.toLowerCase()} hash`} />
        ))}
      </dl>
      <Verify proof={proof} logged={logged} onSave={onSave} />
      <details className="details">
        <summary>The whole proof</summary>
        <Json value={proof} label="The whole proof" />
      </details>
    </div>
  );
}

interface VerifyProps {
  readonly proof: Proof;
  /** Hashes of the proofs that the call's own events carry. */
  readonly logged: readonly string[];
  readonly onSave: () => void;
}

/** Computed here, in the page: the page does not ask the kernel. */
function Verify({ proof, logged, onSave }: VerifyProps): ReactNode {
  const [check, setCheck] = useState<ProofCheck | undefined>(undefined);
  const judged = check && verdictOf(check, logged.includes(proof.hash));
  return (
    <>
      <div className="bar">
        <Button icon="shield" onPress={() => setCheck(verifyProofDigest(proof))}>
          Verify in this page
        </Button>
        <Button icon="download" onPress={onSave}>
          Save evidence
        </Button>
        <CopyButton text={JSON.stringify(proof)} what="the proof" />
      </div>
      <p className="hint">
        Evidence is one file for somebody else, who checks it without this kernel: with{" "}
        <a href="./verify.html" target="_blank" rel="noreferrer">
          verify.html
        </a>
        , which works offline, or with <code>keyhole verify FILE</code>.
      </p>
      <output className="verdict" data-verdict={judged?.verdict}>
        {judged && visible(verdictLine(judged))}
      </output>
    </>
  );
}

/** This page has no key of the kernel: it can say at most that proof and log fit. */
function verdictOf(check: ProofCheck, isLogged: boolean): Judged {
  if (!check.ok) return { verdict: "broken", reason: check.reason };
  if (!isLogged) return { verdict: "broken", reason: "The hash matches, but the log has no such proof." };
  const reason = "The hash matches, and the log has the same proof.";
  return { verdict: "unvouched", vouchedBy: { kind: "nobody", reason } };
}
