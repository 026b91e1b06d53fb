import { visible } from "@keyhole/kernel";
import { type ReactNode, useState } from "react";
import { Icon } from "../ui/icons.tsx";
import { missingText } from "./errors.ts";
import { FaultText } from "./FieldFrame.tsx";
import { JsonEditor } from "./JsonEditor.tsx";
import { lineAt } from "./json-places.ts";
import type { CallInput } from "./useCallInput.ts";

interface JsonPaneProps {
  readonly input: CallInput;
  readonly linked: string;
  readonly onCaret: (pointer: string) => void;
}

/** With less room, the pane starts folded: the fields come before it. */
const hasRoom = "(width >= 720px) and (height >= 860px), (width >= 2300px)";

/** Faults in sight; the fields have all of them. */
const shownFaults = 20;

/** The same input as JSON. The kernel gets it unchanged, so that the person can see its own refusal; this only warns beforehand. */
export function JsonPane({ input, linked, onCaret }: JsonPaneProps): ReactNode {
  const [isOpen, setOpen] = useState(() => globalThis.matchMedia?.(hasRoom).matches ?? true);
  const { draft, text, places, fault } = input;
  const { errors } = draft;
  const state = stateOf(input);
  return (
    <section className="sunken over shrinks json-pane" aria-label="JSON">
      <header className="line json-head">
        <button type="button" className="line fold" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          <Icon name="chevron" />
          Input as JSON
        </button>
        {isOpen && linked !== "" && (
          <span className="muted clip">
            linked: <code>{visible(linked)}</code>
          </span>
        )}
        <output className="json-state" data-state={state.name}>
          {state.text}
        </output>
      </header>
      {isOpen && (
        <>
          <JsonEditor
            text={text}
            places={places}
            faultLines={faultLinesOf(input)}
            linked={linked}
            isInvalid={fault !== ""}
            onChange={input.type}
            onCaret={onCaret}
          />
          <div id="json-faults" className="json-faults">
            {fault !== "" && <p className="fault">This is not JSON: {visible(fault)}</p>}
            {fault === "" && errors.length > 0 && (
              <ul className="fault">
                {errors.slice(0, shownFaults).map(({ path, message, hint }) => (
                  <li key={path + message}>
                    <FaultText message={`${path === "" ? "The input" : path}: ${message}`} hint={hint} />
                  </li>
                ))}
              </ul>
            )}
          </div>
        </>
      )}
    </section>
  );
}

/** An empty field is no fault of the person's yet. */
function stateOf({ draft, fault }: CallInput): { readonly name: string; readonly text: string } {
  const { errors } = draft;
  if (fault === "" && errors.length === 0) return { name: "valid", text: "✓ valid" };
  const count = fault === "" ? errors.length : 1;
  if (fault === "" && errors.every(({ message }) => message === missingText))
    return { name: "open", text: count === 1 ? "1 field to fill in" : `${count} fields to fill in` };
  return { name: "faults", text: count === 1 ? "1 fault" : `${count} faults` };
}

/** A missing member has no line of its own: its object's first line has the mark. */
function faultLinesOf({ draft, text, places, fault }: CallInput): ReadonlySet<number> {
  if (fault !== "") return new Set(places.stop === undefined ? [] : [lineAt(text, places.stop.at)]);
  const starts = new Map(places.places.map(({ pointer, start }) => [pointer, start]));
  return new Set(
    draft.errors.map(({ path }) => {
      const at = starts.get(path) ?? starts.get(path.slice(0, path.lastIndexOf("/"))) ?? 0;
      return lineAt(text, at);
    }),
  );
}
