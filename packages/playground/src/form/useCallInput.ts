import { type JsonObject, type JsonValue, type ToolSummary, visible } from "@keyhole/kernel";
import type { JsonPlaces } from "@keyhole/kernel/foreign";
import { useCallback, useMemo, useState } from "react";
import { useAnnounce } from "../ui/announce.tsx";
import { placedText } from "./JsonEditor.tsx";
import { placesOf } from "./json-places.ts";
import { type DraftState, useDraft } from "./useDraft.ts";
import type { Draft } from "./value.ts";

/** The input of a call, in fields and as JSON beside them. Each follows the other; what was edited last is what is sent. */
export interface CallInput {
  readonly draft: DraftState;
  readonly text: string;
  readonly places: JsonPlaces;
  /** Why the text is not JSON; empty where it is. */
  readonly fault: string;
  /** How often the person filled in an example. */
  readonly fills: number;
  /** A field changed. */
  readonly change: (value: Draft) => void;
  /** The JSON changed. */
  readonly type: (text: string) => void;
  readonly fillIn: (filled: JsonObject) => void;
  /** The input as a call would send it now. `undefined`: the schema would refuse it. */
  readonly ready: JsonValue | undefined;
  /** The input to send. `undefined`: the schema refused it. */
  readonly take: () => JsonValue | undefined;
}

export function useCallInput(
  tool: ToolSummary,
  seed: JsonValue | undefined,
  refuse: (message: string) => void,
): CallInput {
  const draft = useDraft(tool, seed);
  const announce = useAnnounce();
  /** The person's JSON, until a field changes. */
  const [written, setWritten] = useState<string>();
  const [fills, setFills] = useState(0);
  const { value, change: changeDraft } = draft;
  const text = useMemo(() => written ?? jsonText(value), [written, value]);
  const places = useMemo(() => placesOf(text), [text]);
  const parsed = useMemo(() => (written === undefined ? undefined : parse(written)), [written]);
  const isComplete = draft.errors.length === 0 && !draft.isUnreadable;
  const ofFields = isComplete ? (value ?? noInput) : undefined;
  const takeFields = (): JsonValue | undefined => {
    if (ofFields !== undefined) return ofFields;
    draft.showAll();
    const count = Math.max(1, draft.errors.length);
    refuse(count === 1 ? "One field needs attention" : `${count} fields need attention`);
    return undefined;
  };
  return {
    draft,
    text,
    places,
    fault: parsed === undefined || parsed.ok ? "" : placedText(text, places) || parsed.message,
    fills,
    change: useCallback(
      (next: Draft) => {
        setWritten(undefined);
        changeDraft(next);
      },
      [changeDraft],
    ),
    type(typed) {
      setWritten(typed);
      const read = parse(typed);
      if (read.ok) changeDraft(read.value);
    },
    fillIn(filled) {
      setWritten(undefined);
      changeDraft(filled);
      setFills((count) => count + 1);
      announce("The input is an example now");
    },
    ready: parsed === undefined ? ofFields : parsed.ok ? parsed.value : undefined,
    take() {
      if (parsed === undefined) return takeFields();
      if (parsed.ok) return parsed.value;
      refuse("The input is not JSON");
      return undefined;
    },
  };
}

const noInput: JsonObject = {};

type Parsed = { readonly ok: true; readonly value: JsonValue } | { readonly ok: false; readonly message: string };

function parse(text: string): Parsed {
  try {
    return { ok: true, value: JSON.parse(text) as JsonValue };
  } catch (error) {
    return { ok: false, message: error instanceof Error ? error.message : String(error) };
  }
}

/** With escapes in place of invisible characters: the same JSON. */
function jsonText(value: unknown): string {
  return visible(JSON.stringify(value, undefined, 2) ?? "");
}
