import type { StatementKind } from "@keyhole/kernel";
import { readWords } from "@keyhole/kernel/statements";
import { anyRow, type Compilation } from "./authorize.ts";

/** How the schema defines a table or a view. */
export interface SqlDefinition {
  readonly type: string;
  readonly sql: string;
}

/** Finds a definition by name, the way SQLite compares names. Its columns are those of {@link SqlDefinition}, in their order. */
export const definitionQuery =
  "SELECT type, coalesce(sql, '') FROM sqlite_schema WHERE name = ? COLLATE NOCASE AND type IN ('table', 'view')";

/** The further kinds of a change of rows, from the host's definition of the table. */
export function kindsByDefinition(
  kinds: readonly StatementKind[],
  { type, sql }: SqlDefinition,
): readonly StatementKind[] {
  if (!anyRow.some((kind) => kinds.includes(kind))) return [];
  // SQLite runs the SELECT of a view to find the rows of an UPDATE or a DELETE.
  if (type === "view") return kinds.includes("update") || kinds.includes("delete") ? ["select"] : [];
  const words = readWords(sql);
  // An unreadable value could contain anything.
  if (typeof words === "string") return anyRow;
  // Code of its own takes the row: for a full-text index the row `delete-all` is an order.
  if (words[1]?.text === "VIRTUAL") return [...anyRow, "select"];
  const replaces = words.some(({ text }, at) => text === "CONFLICT" && words[at + 1]?.text === "REPLACE");
  return replaces ? ["delete"] : [];
}

/** Answers a question about the schema, under any grant of the statement. */
export type LookUp = (sql: string, ...params: readonly string[]) => readonly (readonly unknown[])[];

/** The kinds that a compiled change has besides those that it was given: it reads, or a definition makes more of it. */
export function missingKinds(compiled: Compilation, lookUp: LookUp): readonly StatementKind[] {
  const missing = new Set<StatementKind>();
  for (const table of compiled.changed)
    for (const [type, sql] of lookUp(definitionQuery, table))
      for (const kind of kindsByDefinition(compiled.kinds, { type: String(type), sql: String(sql) })) missing.add(kind);
  if (readsByItself(compiled, lookUp)) missing.add("select");
  return [...missing].filter((kind) => !compiled.kinds.includes(kind));
}

/** Whether a change reads by itself. Reads of a trigger or a foreign key belong to the host. */
function readsByItself({ kinds, reads, changed }: Compilation, lookUp: LookUp): boolean {
  if (reads.length === 0 || kinds.includes("select") || kinds.includes("drop")) return false;
  const triggers = new Set(lookUp("SELECT name FROM sqlite_schema WHERE type = 'trigger'").map(([name]) => name));
  const own = reads.filter(({ within }) => within === null || changed.has(within) || !triggers.has(within));
  if (own.length === 0) return false;
  const keys = new Set(lookUp(foreignKeys).map((names) => columnKey(names.map(String))));
  return own.some(({ table, column }) => !keys.has(columnKey([table, column])));
}

/** SQLite takes names for the same whose letters differ in case, if the letters are of ASCII. */
function columnKey(names: readonly string[]): string {
  return JSON.stringify(names.map((name) => name.replace(/[A-Z]/g, (letter) => letter.toLowerCase())));
}

/**
 * Both ends of every foreign key. A key without a column of its parent refers to the
 * parent's primary key.
 */
const foreignKeys = `
  WITH pairs AS (
    SELECT child.name AS child, pairs."from" AS "from", pairs."table" AS parent, pairs."to" AS "to"
    FROM sqlite_schema AS child, pragma_foreign_key_list(child.name) AS pairs WHERE child.type = 'table'
  )
  SELECT child, "from" FROM pairs
  UNION SELECT parent, "to" FROM pairs WHERE "to" IS NOT NULL
  UNION SELECT parent, key.name FROM pairs, pragma_table_info(parent) AS key WHERE "to" IS NULL AND key.pk > 0`;
