import { visible } from "@keyhole/kernel";
import { memo, type ReactNode } from "react";
import { bytesText, durationText } from "../app/words.ts";
import type { Break } from "./chain.ts";
import { Bar, OutcomeMark } from "./marks.tsx";
import type { Row } from "./rows.ts";
import { shortHash } from "../ui/short-hash.ts";
import type { Span } from "./spans.ts";
import { placeOf, type View } from "./view.ts";

/** Of a text in a cell; the pane beside it has the rest. */
const cellLength = 200;

export const spanColumns = ["Chain", "Event", "Span", "Target", "Outcome", "Bytes", "Start", "Took"] as const;

interface SpanRowProps {
  readonly row: Row;
  readonly view: View;
}

/** Cells of a row. They render again only for another row or view: a step of scrolling costs the rows that come into sight. */
export const RowCells = memo(function RowCells({ row, view }: SpanRowProps): ReactNode {
  if (row.kind === "break") return <BreakCells broken={row.broken} />;
  const { span, link } = row;
  const { event, name, target, outcome, state, bytes, depth, kind } = span;
  return (
    <>
      <td className="wf-chain" aria-label={link === "whole" ? "in the chain" : "below a break"}>
        <span className="wf-link" data-link={link} aria-hidden="true" />
      </td>
      <td className="wf-seq">{event.seq}</td>
      <td className="wf-name" data-kind={kind} data-state={state} style={{ paddingInlineStart: `${depth}rem` }}>
        <span className="wf-dot" aria-hidden="true" />
        {visible(name.slice(0, cellLength))}
      </td>
      <td className="wf-target">{visible(middleCut(target))}</td>
      <td className="toned wf-outcome" data-state={state}>
        <OutcomeMark state={state} />
        {visible(outcome.slice(0, cellLength))}
      </td>
      <td className="wf-bytes">{bytes === undefined ? "–" : bytesText(bytes)}</td>
      <td className="wf-start">{span.isTimeless ? "no time" : startText(span.start - view.axis.start)}</td>
      <td className="wf-took" data-waited={kind === "person" || undefined}>
        {tookText(span)}
      </td>
      <td className="wf-cell">
        <Bar span={span} view={view} />
      </td>
    </>
  );
});

/** A moment has no length: the log says when a request ended, and not when it began. */
function tookText({ kind, start, end, isOpen }: Span): string {
  if (kind === "policy" || kind === "crossing" || kind === "event") return "–";
  return `${durationText(end - start)}${isOpen ? "…" : ""}`;
}

function startText(ms: number): string {
  return ms < 10_000 ? `${Math.round(ms)} ms` : durationText(ms);
}

const targetLength = 64;

/** Host and end of a path say the most. */
function middleCut(text: string): string {
  if (text.length <= targetLength) return text;
  return `${text.slice(0, 38)}…${text.slice(-25)}`;
}

function BreakCells({ broken }: { readonly broken: Break }): ReactNode {
  return (
    <>
      <td className="wf-chain" aria-label="a break">
        <span className="wf-gap" aria-hidden="true" />
      </td>
      <td className="wf-broken" colSpan={8}>
        <b>{broken.reason}</b> Expected {visible(shortHash(broken.expected))}, found {visible(shortHash(broken.found))}.
      </td>
    </>
  );
}

/** Labels closer than this would cover each other, in percent. */
const labelWidth = 20;

/** Marks of the time axis, and its folds. */
export function Ruler({ view }: Omit<SpanRowProps, "row">): ReactNode {
  return (
    <span className="wf-ruler">
      {labelsOf(view).map(({ place, text, isFold }) => (
        // The part of the label that lies before its place grows to the end, so that no label leaves the ruler.
        <span
          key={place}
          className={isFold ? "wf-folded" : undefined}
          style={{ insetInlineStart: `${place}%`, translate: `-${place}%` }}
        >
          {text}
        </span>
      ))}
    </span>
  );
}

interface RulerLabel {
  readonly place: number;
  readonly text: string;
  readonly isFold: boolean;
}

function labelsOf(view: View): readonly RulerLabel[] {
  const { axis, window } = view;
  const labels: RulerLabel[] = [];
  const add = (label: RulerLabel): void => {
    const isFree = labels.every(({ place }) => Math.abs(place - label.place) >= labelWidth);
    if (isFree && label.place >= 0 && label.place <= 100) labels.push(label);
  };
  for (const fold of axis.folds.slice(0, 100)) add({ place: placeOf(view, fold.start), text: "folded", isFold: true });
  for (const share of [0, 0.25, 0.5, 0.75]) {
    const place = window.from + (window.to - window.from) * share;
    add({ place: share * 100, text: startText(axis.timeAt(place) - axis.start), isFold: false });
  }
  return labels;
}
