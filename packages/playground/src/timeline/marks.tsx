import type { ReactNode } from "react";
import { StateMark } from "../ui/StateMark.tsx";
import type { Axis } from "./axis.ts";
import type { Span, SpanState } from "./spans.ts";

/** The part of the axis that is drawn, as places between 0 and 1. */
export interface Window {
  readonly from: number;
  readonly to: number;
}

const markOf = {
  running: "running",
  allowed: "completed",
  asks: "asks",
  denied: "refused",
  failed: "failed",
  plain: undefined,
} as const satisfies Record<SpanState, string | undefined>;

export function OutcomeMark({ state }: { readonly state: SpanState }): ReactNode {
  const mark = markOf[state];
  return mark === undefined ? null : <StateMark state={mark} />;
}

/** In percent of the drawn width. */
export function placeOf(axis: Axis, { from, to }: Window, time: number): number {
  const place = ((axis.at(time) - from) / (to - from)) * 100;
  return Math.max(-1, Math.min(101, place));
}

interface BarProps {
  readonly span: Span;
  readonly axis: Axis;
  readonly window: Window;
}

/** Least width, in percent: a moment is drawn, too. */
const leastWidth = 0.4;

export function Bar({ span, axis, window }: BarProps): ReactNode {
  const start = placeOf(axis, window, span.start);
  const width = Math.max(placeOf(axis, window, span.end) - start, leastWidth);
  return (
    <svg className="wf-bar-svg" aria-hidden="true" focusable="false">
      {axis.folds.map((fold) => (
        <Folded key={fold.start} from={placeOf(axis, window, fold.start)} to={placeOf(axis, window, fold.end)} />
      ))}
      <rect
        className="wf-bar"
        data-kind={span.kind}
        data-state={span.state}
        x={`${start}%`}
        y="30%"
        width={`${width}%`}
        height="40%"
      />
      {(span.kind === "person" || span.kind === "queue") && <Hatches start={start} width={width} />}
    </svg>
  );
}

function Folded({ from, to }: { readonly from: number; readonly to: number }): ReactNode {
  if (to <= 0 || from >= 100) return null;
  return <rect className="wf-fold" x={`${from}%`} y="0" width={`${to - from}%`} height="100%" />;
}

const mostHatches = 24;

/** Lines of our own: a pattern would need an id, and ids are the page's. */
function Hatches({ start, width }: { readonly start: number; readonly width: number }): ReactNode {
  const count = Math.min(mostHatches, Math.floor(width / 0.8));
  const step = width / (count + 1);
  return Array.from({ length: count }, (_, index) => {
    const x = start + step * (index + 1);
    return <line key={index} className="wf-hatch" x1={`${x - 0.3}%`} x2={`${x + 0.3}%`} y1="70%" y2="30%" />;
  });
}
