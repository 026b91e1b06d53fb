import { visible } from "@keyhole/kernel";
import type { JsonPlaces } from "@keyhole/kernel/foreign";
import { type ReactNode, useMemo } from "react";
import { coloured } from "../ui/Json.tsx";
import { lineAt, pointerAt } from "./json-places.ts";

interface JsonEditorProps {
  readonly text: string;
  readonly places: JsonPlaces;
  /** Lines with something wrong, from 1. */
  readonly faultLines: ReadonlySet<number>;
  /** Of the field that has the focus. */
  readonly linked: string;
  readonly isInvalid: boolean;
  readonly onChange: (text: string) => void;
  /** The value at the caret. */
  readonly onCaret: (pointer: string) => void;
}

/** A longer text has neither colours nor line numbers. */
const mostLines = 2_000;
const mostLength = 60_000;

/** The input as JSON: the browser's own text area over a drawing of the same text, whose lines it shows through. */
export function JsonEditor(props: JsonEditorProps): ReactNode {
  const { text, places, faultLines, linked, isInvalid, onChange, onCaret } = props;
  const lines = useMemo(() => text.split("\n"), [text]);
  const isDrawn = lines.length <= mostLines && text.length <= mostLength;
  const linkedLine = useMemo(() => {
    const place = linked === "" ? undefined : places.places.find(({ pointer }) => pointer === linked);
    return place === undefined ? 0 : lineAt(text, place.start);
  }, [linked, places, text]);
  return (
    <div className="json-edit" data-drawn={isDrawn || undefined}>
      {isDrawn && (
        <div className="json-lines" aria-hidden="true">
          {lines.map((line, index) => (
            <div
              key={index}
              className="json-line"
              data-linked={linkedLine === index + 1 || undefined}
              data-fault={faultLines.has(index + 1) || undefined}
            >
              {coloured(line)}
              {"\n"}
            </div>
          ))}
        </div>
      )}
      <textarea
        className="json-text"
        aria-label="Input as JSON"
        aria-invalid={isInvalid || undefined}
        aria-describedby="json-faults"
        spellCheck={false}
        autoComplete="off"
        rows={lines.length}
        wrap="off"
        value={text}
        onChange={({ currentTarget }) => onChange(currentTarget.value)}
        onSelect={({ currentTarget }) => onCaret(pointerAt(places, currentTarget.selectionStart))}
      />
    </div>
  );
}

/** A message with the line that it is about. */
export function placedText(text: string, places: JsonPlaces): string {
  const { stop } = places;
  if (stop === undefined) return "";
  const found = text[stop.at];
  const got = found === undefined ? "the end" : JSON.stringify(visible(found));
  return `Line ${lineAt(text, stop.at)}: expected ${stop.expected}, got ${got}.`;
}
