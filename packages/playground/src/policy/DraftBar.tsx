import type { ReactNode } from "react";
import { useUnsaved } from "../app/StorageNotice.tsx";
import { startPolicy } from "../kernel/default-policy.ts";
import { lineDiff } from "../ui/line-diff.ts";
import { Button } from "../ui/Button.tsx";
import { formatDocument } from "./format.ts";
import type { PolicyDraft } from "./usePolicyDraft.ts";

interface DraftBarProps {
  readonly draft: PolicyDraft;
  /** Opens the question. */
  readonly onApply: () => void;
}

/** The difference between draft and policy in force, and the actions on the draft. */
export function DraftBar({ draft, onApply }: DraftBarProps): ReactNode {
  const isUnsaved = useUnsaved().includes("the policy");
  const { isInForce, inForce, text, notes, read, canUndo } = draft;
  // How a person breaks the lines is no change.
  const written = read.document === undefined ? text : formatDocument(read.document);
  const diff = isInForce ? [] : lineDiff(inForce, written);
  const count = (kind: "added" | "removed"): number => diff.filter((line) => line.kind === kind).length;
  const faults = notes.filter(({ severity }) => severity === "error").length;
  return (
    <footer className="bar policy-bar">
      {!isInForce && (
        <span>
          <b className="toned" data-kind="added">
            +{count("added")}
          </b>{" "}
          <b className="toned" data-kind="removed">
            −{count("removed")}
          </b>{" "}
          lines
        </span>
      )}
      {notes.length > 0 && (
        <span className="toned" data-tone={faults > 0 ? "bad" : "warn"}>
          {plural(faults, "fault")}, {plural(notes.length - faults, "warning")}
        </span>
      )}
      <output className="hint">{isInForce ? inForceText(isUnsaved) : "Not applied yet"}</output>
      <span className="space" />
      <Button look="quiet" onPress={() => draft.change(formatDocument(startPolicy))}>
        Reset
      </Button>
      <Button look="quiet" icon="back" onPress={() => void draft.undo()} isUnavailable={!canUndo || !isInForce}>
        Undo last apply
      </Button>
      <Button onPress={draft.discard} isUnavailable={isInForce}>
        Discard draft
      </Button>
      <Button look="primary" onPress={onApply} isUnavailable={isInForce || read.document === undefined || faults > 0}>
        Apply…
      </Button>
    </footer>
  );
}

function plural(count: number, word: string): string {
  return `${count} ${word}${count === 1 ? "" : "s"}`;
}

function inForceText(isUnsaved: boolean): string {
  return isUnsaved ? "In force, but not saved: a reload brings the last saved policy back" : "In force";
}
