import { visible } from "@keyhole/kernel";
import { type ReactNode, useCallback, useMemo, useState } from "react";
import { VirtualLines } from "../../ui/VirtualLines.tsx";
import { childrenAtOnce, type TreeRow, treeRows, type TreeState } from "./tree.ts";

const untouched: TreeState = { toggled: new Set(), shown: new Map() };
/** The tree cuts longer texts, with a note; the view as text has all of them. */
const mostInValue = 400;

/** A value of any size. Only what is open has rows, and only rows in sight are drawn. */
export function TreeView({ value }: { readonly value: unknown }): ReactNode {
  const [state, setState] = useState(untouched);
  const rows = useMemo(() => treeRows(value, state), [value, state]);
  const keyOf = useCallback((index: number) => rows[index]?.pointer ?? index, [rows]);
  const toggle = (pointer: string): void =>
    setState(({ toggled, shown }) => {
      const next = new Set(toggled);
      if (!next.delete(pointer)) next.add(pointer);
      return { toggled: next, shown };
    });
  const showMore = (row: TreeRow): void =>
    setState(({ toggled, shown }) => {
      const parent = row.pointer.slice(0, -2);
      return { toggled, shown: new Map(shown).set(parent, (shown.get(parent) ?? childrenAtOnce) + childrenAtOnce) };
    });
  return (
    <VirtualLines label="Members" className="result-tree" count={rows.length} rowHeight={22} keyOf={keyOf}>
      {(index) => {
        const row = rows[index]!;
        return (
          <span className="tree-row" style={{ paddingInlineStart: `${row.depth}rem` }}>
            {row.more === undefined ? (
              <Row row={row} onToggle={() => toggle(row.pointer)} />
            ) : (
              <button type="button" className="tree-more" onClick={() => showMore(row)}>
                Show {Math.min(row.more, childrenAtOnce).toLocaleString("en")} of {row.more.toLocaleString("en")} more
              </button>
            )}
          </span>
        );
      }}
    </VirtualLines>
  );
}

function Row({ row, onToggle }: { readonly row: TreeRow; readonly onToggle: () => void }): ReactNode {
  const { name, value, size, isOpen } = row;
  const label = visible(name === "" ? "result" : name);
  if (size === undefined || size === 0)
    return (
      <>
        <span className="tree-mark" />
        <span className="json-key">{label}</span> <Value value={value} />
      </>
    );
  const what = Array.isArray(value) ? "item" : "member";
  return (
    <button type="button" className="tree-fold" aria-expanded={isOpen} onClick={onToggle}>
      <span className="tree-mark" aria-hidden="true">
        {isOpen ? "▾" : "▸"}
      </span>
      <span className="json-key">{label}</span>{" "}
      <span className="muted">
        {size.toLocaleString("en")} {size === 1 ? what : `${what}s`}
      </span>
    </button>
  );
}

function Value({ value }: { readonly value: unknown }): ReactNode {
  const text = JSON.stringify(value) ?? "undefined";
  const kind = typeof value === "string" ? "string" : "literal";
  const cut = text.length - mostInValue;
  return (
    <span className={`json-${kind} wrap pre`}>
      {visible(text.slice(0, mostInValue))}
      {cut > 0 && <span className="cut"> … {cut.toLocaleString("en")} more characters</span>}
    </span>
  );
}
