import type { StatementKind } from "@keyhole/kernel";

type Needed = "any" | "row" | "schema" | "trigger" | readonly StatementKind[];

/**
 * The action codes of SQLite's compiler (`sqlite3_set_authorizer`), and the kinds that a statement
 * needs for each. The authorizer refuses other actions: ATTACH, DETACH, PRAGMA, ANALYZE, transactions,
 * triggers, temporary objects, virtual tables.
 */
const needed: ReadonlyMap<number, Needed> = new Map<number, Needed>([
  [20, "any"], // READ
  [21, "any"], // SELECT
  [31, "any"], // FUNCTION
  [33, "any"], // RECURSIVE
  [9, "row"], // DELETE
  [18, "row"], // INSERT
  [23, "row"], // UPDATE
  [1, ["create"]], // CREATE_INDEX
  [2, ["create"]], // CREATE_TABLE
  [8, ["create", "select"]], // CREATE_VIEW: a SELECT for others to run
  [27, "schema"], // REINDEX, of an index that is being made or whose column changes
  [10, ["drop"]], // DROP_INDEX
  [11, ["drop"]], // DROP_TABLE
  [16, "trigger"], // DROP_TRIGGER, of a table or view that goes
  [17, ["drop"]], // DROP_VIEW
  [26, ["alter", "select"]], // ALTER_TABLE: it moves what others refer to
]);

/** Which kinds of statements change a row in which way. Where a row goes, a foreign key of another table can be set to nothing. */
const rowChanges: ReadonlyMap<number, readonly StatementKind[]> = new Map([
  [9, ["delete", "drop"]], // DELETE; a table that is dropped loses its rows
  [18, ["insert"]], // INSERT
  [23, ["update", "delete"]], // UPDATE
]);

const CREATE_TABLE = 2;
const READ = 20;
const FUNCTION = 31;
/** DROP_TABLE, DROP_VIEW: their triggers go with them. */
const drops: ReadonlySet<number> = new Set([11, 17]);

/** Functions that reach outside the database, into the engine, or into what other statements of this connection did. */
const forbiddenFunctions: ReadonlySet<string> = new Set([
  "load_extension",
  "readfile",
  "writefile",
  "edit",
  "fts3_tokenizer",
  "changes",
  "total_changes",
]);

/** Tables that the engine makes up: raw pages, statements of others, its own settings. */
const forbiddenTables =
  /^(?:sqlite_(?!master$|schema$|sequence$|temp_master$|temp_schema$|stat\d$)|pragma_|dbstat$|bytecode$|tables_used$)/i;

const ownTable = /^sqlite_/i;

/** The kinds that change rows. A trigger of the host has its effect under each of them. */
export const anyRow: readonly StatementKind[] = ["insert", "update", "delete"];
const schemaKinds: readonly StatementKind[] = ["create", "alter", "drop"];

/** A column that a statement reads, and the trigger, the view or the table of its WITH clause within which it does. */
export interface SqlRead {
  readonly table: string;
  readonly column: string;
  readonly within: string | null;
}

/**
 * One statement while the engine compiles it: whether it may do what its kinds say, and what it is seen to do. The engine knows what a statement does; its
 * words were only read.
 */
export class Compilation {
  /** Of tables that were there before. A change of the schema looks things up in the schema besides. */
  readonly reads: SqlRead[] = [];
  /** Tables and views whose rows the statement itself changes, by its words or by a foreign key. */
  readonly changed: Set<string> = new Set();
  readonly kinds: readonly StatementKind[];
  readonly #made = new Set<string | null>();
  readonly #dropped = new Set<string | null>();
  readonly #changesSchema: boolean;

  constructor(kinds: readonly StatementKind[]) {
    this.kinds = kinds;
    this.#changesSchema = this.#has(schemaKinds);
  }

  /**
   * Whether the statement may do what the engine is about to compile into it.
   *
   * @param action SQLite's code
   * @param first table, index or view; of a FUNCTION nothing
   * @param second column; of a FUNCTION its name; of a trigger its table
   * @param schema `main`, `temp`, or nothing
   * @param within the trigger, view or table of a WITH clause that asks for it
   */
  allows(
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
    if (schema === "temp" && action !== READ && !this.kinds.includes("alter")) return false;
    if (action === CREATE_TABLE) this.#made.add(first);
    if (drops.has(action)) this.#dropped.add(first);
    switch (need) {
      case "any":
        if (action === READ) this.#read(first ?? "", second ?? "", within);
        return !forbiddenTables.test(first ?? "");
      case "row":
        return this.#mayChange(action, first ?? "", within);
      case "schema":
        return this.#changesSchema;
      case "trigger":
        return this.#dropped.has(second);
      default:
        return need.every((kind) => this.kinds.includes(kind));
    }
  }

  #has(kinds: readonly StatementKind[]): boolean {
    return kinds.some((kind) => this.kinds.includes(kind));
  }

  #read(table: string, column: string, within: string | null): void {
    if (!this.#made.has(table) && !(this.#changesSchema && ownTable.test(table)))
      this.reads.push({ table, column, within });
  }

  #mayChange(action: number, table: string, within: string | null): boolean {
    // The engine's own tables change with the schema, never by words about rows.
    if (ownTable.test(table)) return this.#changesSchema && !this.#has(anyRow) && !forbiddenTables.test(table);
    if (forbiddenTables.test(table)) return false;
    if (within === null) this.changed.add(table);
    return this.#has(within === null ? (rowChanges.get(action) ?? []) : anyRow);
  }
}
