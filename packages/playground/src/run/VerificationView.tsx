import { verdictTexts } from "@keyhole/kernel/audit";
import type { ReactNode } from "react";
import type { Check, Verification } from "@keyhole/worker-host/edge-protocol";
import { Badge, type Tone } from "../ui/Badge.tsx";
import { visible } from "@keyhole/kernel";

const tones = {
  unvouched: "neutral",
  inconclusive: "warn",
  broken: "bad",
} as const satisfies Record<Verification["verdict"], Tone>;

const checkTexts = {
  tool: "The tool is the one in the list, and its hash is that of its manifest",
  result: "The hash is that of the result",
  proof: "The proof is unchanged, and is of this call, tool and input",
  events: "The events are unchanged, and follow each other",
  log: "The events have the call, the decision of the proof, and this end",
} as const satisfies Record<Check["what"], string>;

const outcomeTexts = { passed: "holds", failed: "does not hold", skipped: "not checked" } as const satisfies Record<
  Check["outcome"],
  string
>;

/** The parts of an edge's answer that this page recomputed, and those that it could not. */
export function VerificationView({ verification }: { readonly verification: Verification }): ReactNode {
  const { verdict, checks } = verification;
  const wanted = verdict === "broken" ? "failed" : "skipped";
  const reasons = checks.filter(({ outcome }) => outcome === wanted).map(({ reason }) => reason);
  return (
    <section className="stack-s verification" aria-label="Verification">
      <p>
        <Badge tone={tones[verdict]}>{verdictTexts[verdict]}</Badge>{" "}
        {verdict === "unvouched"
          ? "This page recomputed the hashes. It has no key of this edge, so the answer may still be made up as a whole."
          : visible(reasons.join(" "))}
      </p>
      <details className="details">
        <summary>What was checked</summary>
        <ul className="plain-list">
          {checks.map(({ what, outcome, reason }) => (
            <li key={what} data-outcome={outcome}>
              {checkTexts[what]}: <strong>{outcomeTexts[outcome]}</strong>. {visible(reason)}
            </li>
          ))}
        </ul>
      </details>
    </section>
  );
}
