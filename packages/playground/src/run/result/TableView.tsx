import { visible } from "@keyhole/kernel";
import { type ReactNode, useState } from "react";
import { VirtualRows } from "../../ui/VirtualRows.tsx";
import type { Table } from "./table.ts";

/** The table cuts longer cells; a press on the row shows all of it. */
const mostInCell = 120;

/** The rows of a result. The columns share the width; a row opens as a list of its cells. */
export function TableView({ table }: { readonly table: Table }): ReactNode {
  const { name, columns, rows } = table;
  const [open, setOpen] = useState<number>();
  const numbered = rows.map((cells, number) => ({ number, cells }));
  const opened = open === undefined ? undefined : rows[open];
  return (
    <>
      <VirtualRows
        label={name === "" ? "Rows" : `Rows of ${visible(name)}`}
        className="box result-table"
        rows={numbered}
        keyOf={({ number }) => String(number)}
        rowHeight={24}
        head={
          <>
            <th scope="col" className="muted table-number">
              #
            </th>
            {columns.map((column, index) => (
              <th key={column} scope="col" data-kind={typeof rows[0]?.[index]}>
                {visible(column)}
              </th>
            ))}
          </>
        }
        selected={open === undefined ? undefined : String(open)}
        onOpen={({ number }) => setOpen(number)}
        emptyText="No row."
      >
        {({ number, cells }) => (
          <>
            <td className="muted table-number">{number + 1}</td>
            {cells.map((cell, index) => (
              <td key={columns[index]} data-kind={typeof cell}>
                {visible(cellText(cell).slice(0, mostInCell))}
              </td>
            ))}
          </>
        )}
      </VirtualRows>
      {opened !== undefined && (
        <dl className="facts table-row" aria-label={`Row ${(open ?? 0) + 1}`}>
          {columns.map((column, index) => (
            <div key={column}>
              <dt>{visible(column)}</dt>
              <dd>{visible(cellText(opened[index]))}</dd>
            </div>
          ))}
        </dl>
      )}
    </>
  );
}

function cellText(cell: unknown): string {
  if (cell === undefined) return "–";
  return typeof cell === "string" ? cell : (JSON.stringify(cell) ?? "");
}
