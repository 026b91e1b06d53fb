import type { ReactNode } from "react";
import type { CallState } from "../session/call-head.ts";

/** A shape for each meaning, so that the colour is not alone. */
const marks = {
  running: "M8 2.5a5.5 5.5 0 1 0 5.5 5.5",
  asks: "m8 1.5 6.5 6.5L8 14.5 1.5 8zM8 5v3.5m0 2.2v.01",
  completed: "M8 1.75a6.25 6.25 0 1 0 0 12.5 6.25 6.25 0 0 0 0-12.5ZM5 8.25l2.1 2.1L11 6.2",
  refused: "M5.4 1.75h5.2l3.65 3.65v5.2l-3.65 3.65H5.4L1.75 10.6V5.4zM5 8h6",
  failed: "M5.4 1.75h5.2l3.65 3.65v5.2l-3.65 3.65H5.4L1.75 10.6V5.4zM5.8 5.8l4.4 4.4m0-4.4-4.4 4.4",
  cancelled: "M4 4h8v8H4z",
  broken: "m1.75 13 6.25-11 6.25 11zM8 6.2v3m0 1.8v.01",
  left: "M9 3H3v10h6M6.5 8H14m-2.5-2.5L14 8l-2.5 2.5",
} as const satisfies Record<CallState, string>;

export function StateMark({ state }: { readonly state: CallState }): ReactNode {
  return (
    <svg className="icon" viewBox="0 0 16 16" aria-hidden="true" focusable="false">
      <path d={marks[state]} />
    </svg>
  );
}
