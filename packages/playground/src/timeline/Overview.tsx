import { type ReactNode, useMemo } from "react";
import { durationText } from "../app/words.ts";
import type { Axis } from "./axis.ts";
import { lanes, overviewOf } from "./rows.ts";
import type { Span } from "./spans.ts";
import type { useWindow } from "./useWindow.ts";

interface OverviewProps {
  readonly spans: readonly Span[];
  readonly axis: Axis;
  readonly zoom: ReturnType<typeof useWindow>;
}

const columns = 240;

/** All of the time in a strip. A drag, or plus, minus and the arrows, choose the part that the waterfall shows. */
export function Overview({ spans, axis, zoom }: OverviewProps): ReactNode {
  const { window, reset: _, ...handlers } = zoom;
  const touched = useMemo(() => overviewOf(spans, axis, columns), [spans, axis]);
  const text = (place: number): string => durationText(axis.timeAt(place) - axis.start);
  return (
    <div
      className="sunken under wf-overview"
      // An input has one thumb, and this has a window.
      // oxlint-disable-next-line jsx-a11y/prefer-tag-over-role
      role="slider"
      tabIndex={0}
      aria-label="Time that is shown"
      aria-valuemin={0}
      aria-valuemax={100}
      aria-valuenow={Math.round(((window.from + window.to) / 2) * 100)}
      aria-valuetext={`${text(window.from)} to ${text(window.to)}`}
      title="Drag to zoom. Plus and minus zoom, the arrows move, 0 shows all."
      {...handlers}
    >
      <svg viewBox={`0 0 ${columns} 40`} preserveAspectRatio="none" aria-hidden="true" focusable="false">
        {lanes.map((lane, index) => (
          <path key={lane} className="wf-lane" data-lane={lane} d={pathOf(touched[index], 5 + index * 8)} />
        ))}
        <rect
          className="wf-window"
          x={window.from * columns}
          width={(window.to - window.from) * columns}
          y="0"
          height="40"
        />
      </svg>
    </div>
  );
}

/** One rectangle for each run of columns. */
function pathOf(touched: Uint8Array = new Uint8Array(), y: number): string {
  const parts: string[] = [];
  for (let column = 0; column < touched.length; column++) {
    if (touched[column] === 0) continue;
    const start = column;
    while (touched[column + 1] === 1) column++;
    parts.push(`M${start} ${y}H${column + 1}V${y + 5}H${start}Z`);
  }
  return parts.join("");
}
