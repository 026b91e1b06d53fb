import { type JsonValue, policy as policyOf, type Policy, type Proof, visible } from "@keyhole/kernel";
import { hashOf } from "@keyhole/kernel/audit";
import { explain } from "@keyhole/kernel/policy";
import { type ReactNode, useMemo } from "react";
import type { Governance, GovernanceState } from "../client/kernel-client.ts";
import type { ActiveRun } from "../run/run-state.ts";
import { StateMark } from "../ui/StateMark.tsx";
import { type Decided, decidedIn, ladderOf, type Rung, type RungName } from "./ladder.ts";
import { Levels } from "./Levels.tsx";
import { RemedyCard } from "./Remedies.tsx";
import { remediesOf } from "./remedies.ts";
import "./decision.css";

interface DecisionViewProps {
  readonly run: ActiveRun;
  readonly governance: Governance | undefined;
  readonly governed: GovernanceState | undefined;
  /** Puts the changes in view, and the focus at their heading. */
  readonly leadsToChanges?: boolean;
}

/** The steps of a call's decision, changes that would alter it, and whether it holds without the kernel. */
export function DecisionView(props: DecisionViewProps): ReactNode {
  const { run, governance, governed } = props;
  const decided = useMemo(() => decidedIn(run), [run]);
  if (decided === undefined) return <p className="hint">Nothing is decided yet.</p>;
  const { proof } = decided;
  return (
    <div className="decision">
      <section aria-labelledby="how-decided">
        <h2 id="how-decided">How it was decided</h2>
        {proof && <Summary proof={proof} policy={governed?.policy} />}
        <Ladder rungs={ladderOf(run, decided)} isDenied={proof?.decision !== "allow"} />
      </section>
      <Changes {...props} decided={decided} />
      {proof && run.phase === "done" && (
        <section aria-labelledby="checked-here">
          <h2 id="checked-here">Checked in this page, without the kernel</h2>
          <Levels run={run} proof={proof} governance={governance} />
        </section>
      )}
    </div>
  );
}

function Summary({ proof, policy }: { readonly proof: Proof; readonly policy: JsonValue | undefined }): ReactNode {
  const { summary } = useMemo(() => explain(proof, decidingPolicy(proof, policy)), [proof, policy]);
  return <p>{visible(summary)}</p>;
}

/** With the policy that decided, the view can quote a rule's own words. */
function decidingPolicy({ policyHash }: Proof, document: JsonValue | undefined): Policy | undefined {
  if (document === undefined) return undefined;
  const loaded = policyOf(document, { hash: hashOf(policyHash) });
  return loaded.ok ? loaded.value : undefined;
}

const rungTitles = {
  input: "Input",
  grants: "Grants",
  mode: "Mode",
  posture: "Tier and posture",
  rules: "Rules",
  tool: "The tool",
  target: "Target",
  approval: "Approval",
  requests: "Requests",
} as const satisfies Record<RungName, string>;

const notes = {
  passed: "",
  asks: "asked here",
  decides: "decided here",
  unreached: "",
} as const satisfies Record<Rung["state"], string>;

function Ladder({ rungs, isDenied }: { readonly rungs: readonly Rung[]; readonly isDenied: boolean }): ReactNode {
  return (
    <ol className="ladder" aria-label="Steps of the decision">
      {rungs.map(({ name, said, state }) => (
        <li key={name} className="stack-l wrap rung" data-state={state} data-denied={isDenied || undefined}>
          {state === "unreached" ? <span className="rung-dot" /> : <StateMark state={markOf(state, isDenied)} />}
          <span className="rung-name">
            {rungTitles[name]}
            {notes[state] !== "" && <span className="small toned rung-note"> {notes[state]}</span>}
          </span>
          <span>{visible(said)}</span>
        </li>
      ))}
    </ol>
  );
}

function markOf(state: Exclude<Rung["state"], "unreached">, isDenied: boolean): "completed" | "asks" | "refused" {
  if (state === "asks") return "asks";
  return state === "decides" && isDenied ? "refused" : "completed";
}

interface ChangesProps extends DecisionViewProps {
  readonly decided: Decided;
}

function Changes({ run, decided, governance, governed, leadsToChanges = false }: ChangesProps): ReactNode {
  const remedies = useMemo(() => remediesOf(run, decided, governed?.policy), [run, decided, governed]);
  const sentences = useMemo(() => (decided.proof ? explain(decided.proof).toChange : []), [decided]);
  if (remedies.length === 0 && sentences.length === 0) return null;
  return (
    <section aria-labelledby="what-changes">
      <h2 id="what-changes" tabIndex={-1} ref={leadsToChanges ? leadTo : undefined}>
        What would change this
      </h2>
      <ul className="stack-l">
        {remedies.map((remedy) => (
          <RemedyCard key={remedy.member} remedy={remedy} setPolicy={governance?.setPolicy} />
        ))}
        {sentences.map((sentence) => (
          <li key={sentence} className="remedy-word">
            {visible(sentence)}
          </li>
        ))}
      </ul>
    </section>
  );
}

/** The button that led here is gone with its tab: without a focus, the next key would begin at the top of the page. */
function leadTo(heading: HTMLElement | null): void {
  heading?.focus({ preventScroll: true });
  heading?.scrollIntoView({ block: "start" });
}
