import { DatabaseSync } from "node:sqlite";
import type { StatementKind } from "@keyhole/kernel";
import { describe, expect, it } from "vitest";
import { Compilation } from "../../packages/worker-host/src/brokers/sql/authorize.ts";

const [del, insert, update, dropTable, dropTrigger] = [9, 18, 23, 11, 16];
const changes: readonly (readonly [string, number])[] = [
  ["delete", del],
  ["insert", insert],
  ["update", update],
];

/** What statements of these kinds may do to the rows of a table. */
const allowed = (kinds: readonly StatementKind[], table = "t", within: string | null = null): readonly string[] =>
  changes
    .filter(([, action]) => new Compilation(kinds).allows(action, table, null, "main", within))
    .map(([name]) => name);

describe("a statement changes rows only in the way that its own words say", () => {
  it.each<[readonly StatementKind[], readonly string[]]>([
    [["select"], []],
    [["insert"], ["insert"]],
    [["update"], ["update"]],
    // A row that goes can set a foreign key of another one to nothing.
    [["delete"], ["delete", "update"]],
    [
      ["insert", "update"],
      ["insert", "update"],
    ],
    [
      ["delete", "insert"],
      ["delete", "insert", "update"],
    ],
    [["create"], []],
    [["alter"], []],
    [["drop"], ["delete"]],
  ])("%j", (kinds, changed) => {
    expect(allowed(kinds)).toEqual(changed);
  });

  it("a trigger of the host does what it does, when the statement changes anything", () => {
    expect(allowed(["insert"], "t", "on_insert")).toEqual(["delete", "insert", "update"]);
    expect(allowed(["select"], "t", "on_insert")).toEqual([]);
  });

  it("the schema's own tables are changed with the schema, and not by words about rows", () => {
    expect(allowed(["create"], "sqlite_master")).toEqual(["delete", "insert", "update"]);
    expect(allowed(["create"], "sqlite_stat1")).toEqual(["delete", "insert", "update"]);
    expect(allowed(["create"], "sqlite_dbpage")).toEqual([]);
    for (const table of ["sqlite_sequence", "SQLite_Sequence", "sqlite_stat1", "sqlite_master", "sqlite_dbpage"])
      for (const within of [null, "on_insert"])
        expect(allowed(["insert", "update", "delete", "create", "alter", "drop"], table, within)).toEqual([]);
  });

  it("a trigger goes with its table, and not by itself", () => {
    const statement = new Compilation(["drop"]);
    expect(statement.allows(dropTrigger, "g", "t", "main", null)).toBe(false);
    expect(statement.allows(dropTable, "t", null, "main", null)).toBe(true);
    expect(statement.allows(dropTrigger, "g", "t", "main", null)).toBe(true);
    expect(statement.allows(dropTrigger, "h", "u", "main", null)).toBe(false);
  });
});

/** SQLite marks the others: they do nothing but compute. */
const looked = (
  "median percentile percentile_cont percentile_disc rtreecheck rtreedepth rtreenode geopoly_debug bm25 highlight match matchinfo offsets optimize " +
  "snippet fts5 fts5_get_locale"
).split(" ");

it("every function of the engine that does more than compute was looked at, or is refused", () => {
  const list = "SELECT DISTINCT name FROM pragma_function_list WHERE flags & 0x200000 = 0";
  const names = new DatabaseSync(":memory:")
    .prepare(list)
    .all()
    .map(({ name }) => String(name));
  expect(names.length).toBeGreaterThan(0);
  const allowed = (name: string) => new Compilation(["select"]).allows(31, null, name, null, null);
  expect(names.filter(allowed).filter((name) => !looked.includes(name))).toEqual([]);
  for (const name of ["load_extension", "LOAD_EXTENSION", "total_changes"]) expect(allowed(name)).toBe(false);
});
