import type { StatementKind } from "@keyhole/kernel";
import { describe, expect, it } from "vitest";
import { mayCompile } from "../../packages/worker-host/src/brokers/sql/authorize.ts";

const [del, insert, update] = [9, 18, 23];
const changes: readonly (readonly [string, number])[] = [
  ["delete", del],
  ["insert", insert],
  ["update", update],
];

/** What statements of these kinds may do to the rows of a table. */
const allowed = (kinds: readonly StatementKind[], table = "t", within: string | null = null): readonly string[] =>
  changes.filter(([, action]) => mayCompile(kinds, action, table, null, "main", within)).map(([name]) => name);

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
    expect(allowed(["insert"], "sqlite_dbpage")).toEqual([]);
  });
});
