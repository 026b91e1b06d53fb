import { useVirtualizer, type Virtualizer } from "@tanstack/react-virtual";
import { type KeyboardEvent, type ReactNode, type RefObject, useCallback, useEffect, useRef, useState } from "react";
import { placeOf } from "./virtual-place.ts";

interface VirtualRowsProps<Row> {
  readonly label: string;
  readonly className: string;
  readonly rows: readonly Row[];
  /** The same for the same row, whichever function it is. */
  readonly keyOf: (row: Row) => string;
  /** In pixels; every row has it. */
  readonly rowHeight: number;
  /** Heads of the columns. */
  readonly head: ReactNode;
  /** The cells of a row. */
  readonly children: (row: Row) => ReactNode;
  readonly selected: string | undefined;
  readonly onOpen: (row: Row) => void;
  readonly emptyText: string;
}

/** The change of the focus by a key. */
const moves: Readonly<Record<string, (at: number, last: number) => number>> = {
  ArrowDown: (at) => at + 1,
  j: (at) => at + 1,
  ArrowUp: (at) => at - 1,
  k: (at) => at - 1,
  PageDown: (at) => at + 10,
  PageUp: (at) => at - 10,
  Home: () => 0,
  End: (_, last) => last,
};

/** A table of any number of rows. It draws only those in sight. It is one stop of the Tab key; arrows move, Enter opens. */
export function VirtualRows<Row>(props: VirtualRowsProps<Row>): ReactNode {
  const { label, className, rows, keyOf, rowHeight, head, children, selected, onOpen, emptyText } = props;
  const { scroller, virtual, stop, onKeyDown, press } = useRows(props);
  return (
    <div ref={scroller} className={`rows ${className}`} style={{ "--row-height": `${rowHeight}px` }}>
      {/* Rows are chosen: without the role a screen reader would read them as text alone. */}
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-element-to-interactive-role */}
      <table role="grid" aria-label={label} aria-rowcount={rows.length + 1}>
        <thead className="surface rows-head">
          <tr aria-rowindex={1} className="rows-row">
            {head}
          </tr>
        </thead>
        <tbody className="rows-body" style={placeOf(virtual)}>
          {virtual.getVirtualItems().map(({ index, key }) => {
            const row = rows[index]!;
            return (
              <tr
                key={key}
                className="rows-row"
                data-index={index}
                aria-rowindex={index + 2}
                aria-selected={keyOf(row) === selected}
                tabIndex={index === stop ? 0 : -1}
                onKeyDown={onKeyDown}
                onClick={() => {
                  press(index);
                  onOpen(row);
                }}
              >
                {children(row)}
              </tr>
            );
          })}
        </tbody>
      </table>
      {rows.length === 0 && <p className="hint rows-empty">{emptyText}</p>}
    </div>
  );
}

interface Rows {
  readonly scroller: RefObject<HTMLDivElement | null>;
  readonly virtual: Virtualizer<HTMLDivElement, Element>;
  /** The row that the Tab key leads to. */
  readonly stop: number;
  readonly onKeyDown: (event: KeyboardEvent) => void;
  readonly press: (index: number) => void;
}

function useRows<Row>({ rows, keyOf, rowHeight, onOpen }: VirtualRowsProps<Row>): Rows {
  const scroller = useRef<HTMLDivElement>(null);
  const [at, setAt] = useState(0);
  const wantsFocus = useRef(false);
  // With another function the list would measure every row anew, at each step of scrolling.
  // oxlint-disable-next-line react-hooks/exhaustive-deps
  const getItemKey = useCallback((index: number) => keyOf(rows[index]!), [rows]);
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeight,
    getItemKey,
    overscan: 4,
  });
  const stop = Math.min(at, rows.length - 1);

  useEffect(() => {
    if (!wantsFocus.current) return;
    const row = scroller.current?.querySelector<HTMLElement>(`[data-index="${stop}"]`);
    if (row === null || row === undefined) return;
    wantsFocus.current = false;
    row.focus({ preventScroll: true });
  });

  const onKeyDown = (event: KeyboardEvent): void => {
    const row = rows[stop];
    if (event.ctrlKey || event.metaKey || event.altKey || row === undefined) return;
    if (event.key === "Enter") {
      event.preventDefault();
      onOpen(row);
    }
    const move = moves[event.key];
    if (move === undefined) return;
    event.preventDefault();
    const next = Math.max(0, Math.min(rows.length - 1, move(stop, rows.length - 1)));
    wantsFocus.current = true;
    setAt(next);
    virtual.scrollToIndex(next);
  };
  return { scroller, virtual, stop, onKeyDown, press: setAt };
}
