import { json } from "@codemirror/lang-json";
import { policyFileSchema } from "@keyhole/kernel/document-schemas";
import { type ReactNode, type Ref, useMemo } from "react";
import { CodeEditor, type CodeHandle } from "../code/CodeEditor.tsx";
import type { LineCount } from "../code/counts.ts";
import { completeFrom, completion } from "./complete.ts";
import { offsetOf, type PolicyText } from "./notes.ts";
import type { Coverage } from "./simulation.ts";
import type { PolicyDraft } from "./usePolicyDraft.ts";

interface PolicyCodeProps {
  readonly draft: PolicyDraft;
  readonly coverage: Coverage | undefined;
  readonly tools: readonly string[];
  readonly onApply: () => void;
  readonly ref: Ref<CodeHandle>;
}

/** The document as text, with faults at their line and, beside it, how many calls each rule and grant is good for. */
export function PolicyCode({ draft, coverage, tools, onApply, ref }: PolicyCodeProps): ReactNode {
  const { text, notes, change, read } = draft;
  // A new source would end a completion in progress: the list is new with each event of the kernel, its names seldom.
  const names = JSON.stringify(["*", ...tools]);
  const extensions = useMemo(() => {
    const known = new Map([["tool", JSON.parse(names) as string[]]]);
    return [json(), completion(completeFrom(policyFileSchema, known))];
  }, [names]);
  const keys = useMemo(
    () => [
      {
        key: "Mod-s",
        preventDefault: true,
        run: () => {
          onApply();
          return true;
        },
      },
    ],
    [onApply],
  );
  const counts = useMemo(() => countsOf(read, coverage), [read, coverage]);
  return (
    <>
      <p className="note under policy-columns" aria-hidden="true">
        <span>line</span>
        <span>calls</span>
        <span>{draft.isInForce ? "the policy in force" : "draft of this tab"}</span>
      </p>
      <CodeEditor
        ref={ref}
        label="Policy (JSON)"
        text={text}
        onChange={change}
        extensions={extensions}
        notes={notes}
        counts={counts}
        keys={keys}
      />
    </>
  );
}

function countsOf({ text, document }: PolicyText, coverage: Coverage | undefined): readonly LineCount[] {
  if (document === undefined || coverage === undefined) return [];
  const rules = (document.rules ?? []).map(({ id }, index) => ({
    at: offsetOf(text, `/rules/${index}`),
    count: coverage.rules.get(id) ?? 0,
  }));
  const grants = (coverage.grants ?? []).map((count, index) => ({ at: offsetOf(text, `/grants/${index}`), count }));
  return [...grants, ...rules];
}
