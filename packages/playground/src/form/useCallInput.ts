import { type JsonObject, type JsonValue, type ToolSummary, visible } from "@keyhole/kernel";
import { useMemo, useState } from "react";
import { useAnnounce } from "../ui/announce.tsx";
import { type DraftState, useDraft } from "./useDraft.ts";

type View = "form" | "json";

/** The input of a call, in fields and as JSON: the JSON is what a person typed, and the fields follow it where it can be read. */
export interface CallInput {
  readonly draft: DraftState;
  readonly view: View;
  readonly text: string;
  /** Why the text is not JSON; empty where nothing is known to be wrong. */
  readonly fault: string;
  /** How often an example was filled in. */
  readonly fills: number;
  readonly show: (view: View) => void;
  readonly type: (text: string) => void;
  readonly fillIn: (filled: JsonObject) => void;
  /** What would be sent now. `undefined`: it would be refused. */
  readonly ready: JsonValue | undefined;
  /** What is to be sent. `undefined`: it was refused. */
  readonly take: () => JsonValue | undefined;
}

export function useCallInput(
  tool: ToolSummary,
  seed: JsonValue | undefined,
  refuse: (message: string) => void,
): CallInput {
  const draft = useDraft(tool, seed);
  const announce = useAnnounce();
  const [view, setView] = useState<View>("form");
  const [text, setText] = useState("");
  const [fault, setFault] = useState("");
  const [fills, setFills] = useState(0);
  const showText = (shown: string): void => {
    setText(shown);
    setFault("");
  };
  const takeFields = (): JsonValue | undefined => {
    const count = draft.errors.length;
    if (count === 0 && !draft.isUnreadable) return draft.value ?? noInput;
    draft.showAll();
    refuse(count === 1 ? "One field needs attention" : `${Math.max(1, count)} fields need attention`);
    return undefined;
  };
  const takeText = (): JsonValue | undefined => {
    const parsed = parse(text);
    if (parsed.ok) return parsed.value;
    setFault(parsed.message);
    refuse("The input is not JSON");
    return undefined;
  };
  const typed = useMemo(() => (view === "json" ? parse(text) : undefined), [view, text]);
  const isComplete = draft.errors.length === 0 && !draft.isUnreadable;
  const fields = isComplete ? (draft.value ?? noInput) : undefined;
  return {
    draft,
    view,
    text,
    fault,
    fills,
    show(next) {
      showText(next === "json" ? jsonText(draft.value) : text);
      setView(next);
    },
    type(typed) {
      showText(typed);
      const parsed = parse(typed);
      if (parsed.ok) draft.change(parsed.value);
    },
    fillIn(filled) {
      draft.change(filled);
      setFills((count) => count + 1);
      showText(jsonText(filled));
      announce("The input is an example now");
    },
    ready: typed === undefined ? fields : typed.ok ? typed.value : undefined,
    take: view === "form" ? takeFields : takeText,
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
