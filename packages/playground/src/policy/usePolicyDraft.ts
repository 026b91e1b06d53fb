import type { JsonObject, JsonValue, PolicyDocument } from "@keyhole/kernel";
import { useDeferredValue, useMemo, useState } from "react";
import { dropEarlierPolicy, earlierPolicies } from "../client/earlier-policies.ts";
import { type ClientFault, faultOf, type Governance } from "../client/kernel-client.ts";
import type { Note } from "../code/notes.ts";
import { useAnnounce } from "../ui/announce.tsx";
import { type Draft, loadDraft, saveDraft } from "./draft.ts";
import { readPolicy } from "./edit.ts";
import { formatDocument } from "./format.ts";
import { mergePolicies } from "./merge.ts";
import { type PolicyText, readPolicyText, refusalNote } from "./notes.ts";

export interface PolicyDraft {
  readonly text: string;
  /** The policy in force, as text. */
  readonly inForce: string;
  readonly isInForce: boolean;
  readonly read: PolicyText;
  readonly notes: readonly Note[];
  /** The kernel did not answer. */
  readonly failure: ClientFault | undefined;
  /** The policy in force is not the one that the draft began with. */
  readonly isStale: boolean;
  /** Members that two sides changed in different ways at the last merge. */
  readonly conflicts: readonly string[];
  readonly canUndo: boolean;
  readonly change: (text: string) => void;
  readonly discard: () => void;
  /** All of the document holds, or nothing of it. */
  readonly apply: (document: PolicyDocument) => Promise<boolean>;
  readonly undo: () => Promise<void>;
  /** A control holds at once, unless a draft waits: then it changes the draft. */
  readonly edit: (document: PolicyDocument) => void;
  /** Takes what another changed into the draft. */
  readonly merge: (theirs: string, base: string) => void;
}

export interface DraftOptions {
  readonly policy: JsonValue;
  readonly setPolicy: NonNullable<Governance["setPolicy"]>;
  readonly onApplied: () => Promise<void>;
  readonly tools: readonly string[];
}

export function usePolicyDraft({ policy, setPolicy, onApplied, tools }: DraftOptions): PolicyDraft {
  const inForce = useMemo(() => formatDocument(policy), [policy]);
  const [draft, setDraft] = useDraft();
  const [refusal, setRefusal] = useState<{ readonly text: string; readonly note: Note }>();
  const [failure, setFailure] = useState<ClientFault>();
  const [conflicts, setConflicts] = useState<readonly string[]>([]);
  const announce = useAnnounce();
  const text = draft?.text ?? inForce;
  const read = useRead(text, tools);
  const change = (next: string): void =>
    setDraft(next === inForce ? undefined : { text: next, base: draft?.base ?? inForce });
  const put = async (document: JsonValue, name: string): Promise<boolean> => {
    setFailure(undefined);
    try {
      const applied = await setPolicy(document);
      await onApplied();
      if (applied.ok) setDraft(undefined);
      else setRefusal({ text: read.text, note: refusalNote(read.text, applied.error) });
      if (applied.ok) announce(name);
      return applied.ok;
    } catch (error) {
      setFailure(faultOf(error));
      // The kernel, not this page, knows which policy is in force, also after a failure.
      await onApplied();
      return false;
    }
  };
  const apply = (document: PolicyDocument): Promise<boolean> =>
    put(document as unknown as JsonValue, "The policy is in force");
  const earlier = earlierPolicies().at(-1);
  return {
    text,
    inForce,
    isInForce: text === inForce,
    read,
    notes: refusal?.text === read.text ? [refusal.note, ...read.notes] : read.notes,
    failure,
    isStale: draft !== undefined && draft.base !== inForce,
    conflicts,
    canUndo: earlier !== undefined,
    change,
    discard: () => setDraft(undefined),
    apply,
    async undo() {
      if (earlier === undefined || !(await put(earlier, "The earlier policy is in force"))) return;
      // Itself, and what it replaced.
      dropEarlierPolicy();
      dropEarlierPolicy();
    },
    edit: (document) => (draft === undefined ? void apply(document) : change(formatDocument(document))),
    merge(theirs, base) {
      const merged = mergedText(base, text, theirs);
      if (merged === undefined) return;
      setConflicts(merged.conflicts);
      setDraft(merged.text === inForce ? undefined : { text: merged.text, base: inForce });
    },
  };
}

/** Keeps the text in this tab, also over a reload. */
function useDraft(): readonly [Draft | undefined, (draft: Draft | undefined) => void] {
  const [draft, setDraft] = useState(loadDraft);
  const change = (next: Draft | undefined): void => {
    saveDraft(next);
    setDraft(next);
  };
  return [draft, change];
}

/** The keyboard goes first. */
function useRead(text: string, tools: readonly string[]): PolicyText {
  const settled = useDeferredValue(text);
  return useMemo(() => readPolicyText(settled, tools), [settled, tools]);
}

function mergedText(
  base: string,
  mine: string,
  theirs: string,
): { readonly text: string; readonly conflicts: readonly string[] } | undefined {
  const [before, own, other] = [readPolicy(base), readPolicy(mine), readPolicy(theirs)];
  if (!before.ok || !own.ok || !other.ok) return undefined;
  const json = (document: unknown) => document as JsonObject;
  const { document, conflicts } = mergePolicies(json(before.document), json(own.document), json(other.document));
  return { text: formatDocument(document), conflicts };
}
