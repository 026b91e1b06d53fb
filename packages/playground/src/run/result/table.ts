import { isJsonObject } from "@keyhole/kernel";

export interface Table {
  /** Where in the result it stands; empty for the result itself. */
  readonly name: string;
  readonly columns: readonly string[];
  readonly rows: readonly (readonly unknown[])[];
}

/** More columns suit a tree. */
const mostColumns = 60;
/** Rows whose names make the columns: the others have those names alone. */
const namingRows = 200;

/** A list of objects is a table; so is a list of lists beside a list of the columns' names, as a database answers. */
export function tableOf(data: unknown): Table | undefined {
  if (Array.isArray(data)) return tableOfList("", data, undefined);
  if (!isJsonObject(data)) return undefined;
  const { columns } = data as { readonly columns?: unknown };
  for (const [name, member] of Object.entries(data)) {
    if (!Array.isArray(member) || member.length === 0) continue;
    const table = tableOfList(name, member, columns) ?? tableOfRows(name, member, columns);
    if (table !== undefined) return table;
  }
  return undefined;
}

/** The kernel sorts the members of objects, so that only a list of names keeps the order of a query. */
function tableOfList(name: string, list: readonly unknown[], named: unknown): Table | undefined {
  if (list.length === 0 || !list.every(isJsonObject)) return undefined;
  const found = new Set(list.slice(0, namingRows).flatMap((row) => Object.keys(row)));
  const names: readonly unknown[] = Array.isArray(named) ? named : [];
  const first = names.filter((each): each is string => typeof each === "string" && found.has(each));
  const columns = [...new Set([...first, ...found])];
  if (columns.length === 0 || columns.length > mostColumns) return undefined;
  const rows = list.map((row) => columns.map((column) => (Object.hasOwn(row, column) ? row[column] : undefined)));
  return { name, columns, rows };
}

function tableOfRows(name: string, list: readonly unknown[], columns: unknown): Table | undefined {
  if (!Array.isArray(columns) || columns.length > mostColumns || !columns.every((each) => typeof each === "string"))
    return undefined;
  const isRow = (row: unknown): row is readonly unknown[] => Array.isArray(row) && row.length === columns.length;
  return list.every(isRow) ? { name, columns, rows: list } : undefined;
}
