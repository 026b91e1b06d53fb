import { policy as policyOf } from "@keyhole/kernel";
import { type ReactNode, useMemo, useRef, useState } from "react";
import { capabilityText } from "../app/capability-words.ts";
import type { Governance } from "../client/kernel-client.ts";
import type { CodeHandle } from "../code/CodeEditor.tsx";
import { Segmented } from "../ui/Segmented.tsx";
import { ApplyDialog } from "./ApplyDialog.tsx";
import { DraftBar } from "./DraftBar.tsx";
import { DraftNotices } from "./DraftNotices.tsx";
import { readPolicy } from "./edit.ts";
import { type Elsewhere, useElsewhere } from "./elsewhere.ts";
import { offsetOf } from "./notes.ts";
import { Openings } from "./Openings.tsx";
import { PolicyCode } from "./PolicyCode.tsx";
import { type Coverage, compareOver, coverageOf, type SimulatedRow } from "./simulation.ts";
import { Simulation, type UnusedGrant } from "./Simulation.tsx";
import { StandingApprovals } from "./StandingApprovals.tsx";
import { TemplateMenu } from "./TemplateMenu.tsx";
import { type DraftOptions, type PolicyDraft, usePolicyDraft } from "./usePolicyDraft.ts";
import { type SessionCalls, useSessionCalls } from "./useSessionCalls.ts";

interface PolicyBenchProps extends DraftOptions {
  readonly hash: ReactNode;
  readonly modeField: ReactNode;
  readonly approvals: Governance["approvals"];
}

const parts = [
  { value: "document", text: "Document" },
  { value: "openings", text: "Openings" },
  { value: "standing", text: "Standing approvals" },
] as const;

/** A policy that the person can change: the draft of this tab, and what it would do. */
export function PolicyBench({ hash, modeField, approvals, ...options }: PolicyBenchProps): ReactNode {
  const [part, setPart] = useState<(typeof parts)[number]["value"]>("document");
  const [isAsking, setAsking] = useState(false);
  const draft = usePolicyDraft(options);
  const session = useSessionCalls();
  const simulated = useSimulated(draft, session);
  const elsewhere = useElsewhere(draft.inForce);
  const editor = useRef<CodeHandle>(null);
  const { document } = draft.read;
  const ask = (): void => setAsking(document !== undefined && !draft.isInForce);
  return (
    <>
      <div className="column policy-edit">
        <header className="bar under screen-head">
          <h1>Policy</h1>
          <Segmented label="Part of the policy" value={part} options={parts} onChange={setPart} />
          <TemplateMenu document={document} onAdd={(changed) => draft.change(changed)} />
          {hash}
        </header>
        <DraftNotices draft={draft} elsewhere={elsewhere} />
        {part === "document" && (
          <PolicyCode draft={draft} coverage={simulated?.coverage} tools={options.tools} onApply={ask} ref={editor} />
        )}
        {part === "openings" && <OpeningsPart modeField={modeField} draft={draft} coverage={simulated?.coverage} />}
        {part === "standing" && (
          <div className="pane policy-scroll">
            <StandingApprovals approvals={approvals} />
          </div>
        )}
      </div>
      <Simulation
        session={session}
        rows={simulated?.rows}
        unused={unusedOf(draft, simulated?.coverage)}
        onShowGrant={(index) => {
          setPart("document");
          // React may have to draw the document first.
          requestAnimationFrame(() => editor.current?.show(offsetOf(draft.read.text, `/grants/${index}`)));
        }}
      />
      <DraftBar draft={draft} onApply={ask} />
      {isAsking && document !== undefined && (
        <ApplyDialog
          inForce={draft.inForce}
          document={document}
          simulated={sentenceOf(simulated?.rows)}
          warning={warningOf(elsewhere)}
          onApply={() => draft.apply(document)}
          onClose={() => setAsking(false)}
        />
      )}
    </>
  );
}

interface OpeningsPartProps {
  readonly modeField: ReactNode;
  readonly draft: PolicyDraft;
  readonly coverage: Coverage | undefined;
}

function OpeningsPart({ modeField, draft, coverage }: OpeningsPartProps): ReactNode {
  const { document } = draft.read;
  return (
    <div className="pane policy-scroll">
      {modeField}
      {document === undefined ? (
        <p className="hint">The draft is no policy. Its document says where it fails.</p>
      ) : (
        <Openings document={document} counts={coverage?.grants} onChange={draft.edit} />
      )}
    </div>
  );
}

interface Simulated {
  readonly rows: readonly SimulatedRow[];
  readonly coverage: Coverage;
}

function useSimulated({ inForce, read }: PolicyDraft, { calls }: SessionCalls): Simulated | undefined {
  const { policy, document } = read;
  return useMemo(() => {
    const current = readPolicy(inForce);
    if (policy === undefined || document === undefined || !current.ok) return undefined;
    const before = policyOf(current.document);
    if (!before.ok) return undefined;
    const rows = compareOver(before.value, policy, calls);
    return { rows, coverage: coverageOf(document, rows) };
  }, [inForce, policy, document, calls]);
}

function unusedOf({ read }: PolicyDraft, coverage: Coverage | undefined): readonly UnusedGrant[] {
  return (read.document?.grants ?? []).flatMap(({ tool, capability }, index) =>
    coverage?.grants?.[index] === 0 ? [{ index, tool, text: capabilityText(capability) }] : [],
  );
}

function sentenceOf(rows: readonly SimulatedRow[] | undefined): string {
  if (rows === undefined || rows.length === 0) return "This session has no call to try it on.";
  const changed = rows.filter(({ before, after }) => before !== after).length;
  return `Of this session's ${rows.length} calls, ${changed} would be decided otherwise.`;
}

function warningOf(elsewhere: Elsewhere | undefined): string | undefined {
  return elsewhere && "Another tab stored a policy. Apply replaces it for pages that are loaded later.";
}
