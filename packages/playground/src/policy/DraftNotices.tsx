import { visible } from "@keyhole/kernel";
import type { ReactNode } from "react";
import { Button } from "../ui/Button.tsx";
import { DiffView } from "../ui/DiffView.tsx";
import { FaultNotice, Notice } from "../ui/Notice.tsx";
import { loadDraft } from "./draft.ts";
import type { Elsewhere } from "./elsewhere.ts";
import type { PolicyDraft } from "./usePolicyDraft.ts";

interface DraftNoticesProps {
  readonly draft: PolicyDraft;
  readonly elsewhere: Elsewhere | undefined;
}

/** The notices for a person before the draft takes effect. */
export function DraftNotices({ draft, elsewhere }: DraftNoticesProps): ReactNode {
  const { failure, isStale, conflicts, inForce, merge } = draft;
  return (
    <div className="policy-notices">
      {failure !== undefined && <FaultNotice fault={failure} />}
      {isStale && (
        <Notice
          tone="warn"
          title="The policy in force changed after this draft began"
          actions={<Button onPress={() => merge(inForce, loadDraft()?.base ?? inForce)}>Merge into the draft</Button>}
        >
          <p>Without the merge, Apply takes that change back.</p>
        </Notice>
      )}
      {elsewhere !== undefined && (
        <Notice
          tone="warn"
          title={`Changed elsewhere${elsewhere.at === undefined ? "" : ` at ${elsewhere.at.toLocaleTimeString()}`}`}
          actions={<Button onPress={() => merge(elsewhere.text, inForce)}>Merge into the draft</Button>}
        >
          <p>
            Another tab applied a policy. This tab still has its own; pages that are loaded later get the other one.
          </p>
          <DiffView before={inForce} after={elsewhere.text} label="What the other tab changed" />
        </Notice>
      )}
      {conflicts.length > 0 && (
        <Notice tone="warn" title="Both sides changed the same">
          <p>The draft keeps its own: {visible(conflicts.join(", ").slice(0, 500))}</p>
        </Notice>
      )}
    </div>
  );
}
