import type { ReactNode } from "react";
import { StateMark } from "../ui/StateMark.tsx";
import type { Span, SpanState } from "./spans.ts";
import { placeOf, type View } from "./view.ts";

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

interface BarProps {
  readonly span: Span;
  readonly view: View;
}

/** Least width, in percent: a moment is drawn, too. */
const leastWidth = 0.4;

export function Bar({ span, view }: BarProps): ReactNode {
  const start = placeOf(view, span.start);
  const width = Math.max(placeOf(view, span.end) - start, leastWidth);
  return (
    <svg className="wf-bar-svg" aria-hidden="true" focusable="false">
      {view.folds !== "" && (
        <svg viewBox="0 0 100 1" preserveAspectRatio="none">
          <path className="wf-fold" d={view.folds} />
        </svg>
      )}
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
