import type { ReactNode } from "react";
import type { CallHead } from "../session/call-head.ts";
import { VirtualRows } from "../ui/VirtualRows.tsx";
import { CallCells, callColumns, callRowHeight } from "./CallRow.tsx";

interface CallRowsProps {
  readonly rows: readonly CallHead[];
  readonly current: string | undefined;
  readonly onOpen: (id: string) => void;
}

/** The calls of the log, however many. */
export function CallRows({ rows, current, onOpen }: CallRowsProps): ReactNode {
  return (
    <VirtualRows
      label="Calls"
      className="log"
      rows={rows}
      keyOf={({ id }) => id}
      rowHeight={callRowHeight}
      head={callColumns}
      selected={current}
      onOpen={({ id }) => onOpen(id)}
      emptyText="No call matches."
    >
      {(head) => <CallCells head={head} />}
    </VirtualRows>
  );
}
