import type { StatementKind } from "@keyhole/kernel";

/**
 * What SQLite's compiler asks about each thing that a statement does (`sqlite3_set_authorizer`, action codes). What is not in the table is refused:
 * ATTACH, DETACH, PRAGMA, ANALYZE, transactions, triggers, temporary objects, virtual tables.
 */
const needed: ReadonlyMap<number, "any" | "row" | "schema" | StatementKind> = new Map([
  [20, "any"], // READ
  [21, "any"], // SELECT
  [31, "any"], // FUNCTION
  [33, "any"], // RECURSIVE
  [9, "row"], // DELETE
  [18, "row"], // INSERT
  [23, "row"], // UPDATE
  [1, "create"], // CREATE_INDEX
  [2, "create"], // CREATE_TABLE
  [8, "create"], // CREATE_VIEW
  [27, "schema"], // REINDEX, of an index that is being made or whose column changes
  [10, "drop"], // DROP_INDEX
  [11, "drop"], // DROP_TABLE
  [16, "drop"], // DROP_TRIGGER, of a table that goes
  [17, "drop"], // DROP_VIEW
  [26, "alter"], // ALTER_TABLE
]);

/** Which kinds of statements change a row in which way. Where a row goes, a foreign key of another table can be set to nothing. */
const rowChanges: ReadonlyMap<number, readonly StatementKind[]> = new Map([
  [9, ["delete", "drop"]], // DELETE; a table that is dropped loses its rows
  [18, ["insert"]], // INSERT
  [23, ["update", "delete"]], // UPDATE
]);

const READ = 20;
const FUNCTION = 31;

/** Functions that reach outside the database, or into the engine. */
const forbiddenFunctions = new Set(["load_extension", "readfile", "writefile", "edit", "fts3_tokenizer"]);

/** Tables that the engine makes up: raw pages, statements of others, its own settings. */
const forbiddenTables =
  /^(?:sqlite_(?!master$|schema$|sequence$|temp_master$|temp_schema$|stat\d$)|pragma_|dbstat$|bytecode$|tables_used$)/i;

/** A trigger that the host put there does what it does, whichever change sets it off. */
const anyRow: readonly StatementKind[] = ["insert", "update", "delete"];
const schemaKinds: readonly StatementKind[] = ["create", "alter", "drop"];

/**
 * Whether a statement of these kinds may do what the engine is about to compile into it. The engine knows what a statement does; its words were only read.
 *
 * @param action SQLite's code
 * @param first table, index or view; of a FUNCTION nothing
 * @param second column; of a FUNCTION its name
 * @param schema `main`, `temp`, or nothing
 * @param within the trigger or view that asks for it, which a tool cannot make
 */
export function mayCompile(
  kinds: readonly StatementKind[],
  action: number,
  first: string | null,
  second: string | null,
  schema: string | null,
  within: string | null,
): boolean {
  const need = needed.get(action);
  if (need === undefined) return false;
  if (action === FUNCTION) return !forbiddenFunctions.has((second ?? "").toLowerCase());
  // An ALTER looks whether something temporary refers to the table.
  if (schema === "temp" && action !== READ && !kinds.includes("alter")) return false;
  const changesSchema = schemaKinds.some((kind) => kinds.includes(kind));
  switch (need) {
    case "any":
      return !forbiddenTables.test(first ?? "");
    case "row": {
      if (forbiddenTables.test(first ?? "")) return false;
      const wanted = within === null ? (rowChanges.get(action) ?? []) : anyRow;
      // A change of the schema is one of the schema's own tables.
      return wanted.some((kind) => kinds.includes(kind)) || (changesSchema && /^sqlite_/i.test(first ?? ""));
    }
    case "schema":
      return changesSchema;
    default:
      return kinds.includes(need);
  }
}
