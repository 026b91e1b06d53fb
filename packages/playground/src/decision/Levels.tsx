import { type Proof, visible } from "@keyhole/kernel";
import { type ProofStep, readEvidence, stepText, verifyProof } from "@keyhole/kernel/policy";
import { type ReactNode, useCallback } from "react";
import type { Governance } from "../client/kernel-client.ts";
import { evidenceOf } from "../run/evidence.ts";
import type { ActiveRun } from "../run/run-state.ts";
import { Loading } from "../ui/Notice.tsx";
import { useRead } from "../ui/time.ts";

const names = {
  digest: "unchanged",
  signature: "signed",
  inclusion: "in the log, and the log is whole",
  result: "the result is that of the log",
  "re-evaluation": "decides the same again",
  discharge: "nothing ran that it forbids",
} as const satisfies Record<ProofStep["name"], string>;

const marks = { passed: "✓", failed: "✗", skipped: "–", unvouched: "~" } as const satisfies Record<
  ProofStep["outcome"],
  string
>;

interface LevelsProps {
  readonly run: ActiveRun;
  readonly proof: Proof;
  readonly governance: Governance | undefined;
}

/** The proof, checked in this page by the levels of `verify.html`: the page does not ask the kernel. */
export function Levels({ run, proof, governance }: LevelsProps): ReactNode {
  const steps = useSteps({ run, proof, governance });
  if (steps === undefined) return <Loading>Checking the proof…</Loading>;
  if (typeof steps === "string") return <p className="fault">The proof could not be checked: {visible(steps)}</p>;
  return (
    <ul className="plain-list small levels" aria-label="Levels of verification">
      {steps.map((step) => (
        <li key={step.name} data-outcome={step.outcome}>
          <span aria-hidden="true">{marks[step.outcome]}</span> <b>{step.level}</b> {names[step.name]}
          {step.outcome !== "passed" && <span className="muted"> ({visible(stepText(step))})</span>}
        </li>
      ))}
    </ul>
  );
}

function useSteps({ run, proof, governance }: LevelsProps): readonly ProofStep[] | string | undefined {
  return useRead(
    useCallback(
      () => stepsOf({ run, proof, governance }).catch((error: unknown) => String(error)),
      [run, proof, governance],
    ),
  );
}

async function stepsOf({ run, proof, governance }: LevelsProps): Promise<readonly ProofStep[] | string> {
  const read = readEvidence(await evidenceOf(run, proof, governance));
  if (!read.ok) return read.message;
  const { steps } = await verifyProof(read.value.proof, read.value.evidence);
  return steps;
}
