import type { StatementKind } from "@keyhole/kernel";
import type { SqlDatabase } from "@keyhole/worker-host/brokers/db";
import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { limits, never, plain } from "./db-values.ts";

export interface DbEngineOptions {
  /** Whether it holds a change to the kinds that its words were read to have. */
  readonly holdsKinds: boolean;
}

/** What the engine itself must refuse, whatever the words of a statement were taken for. `open` gives an empty database. */
export function dbEngineContract(
  name: string,
  open: () => SqlDatabase | Promise<SqlDatabase>,
  { holdsKinds }: DbEngineOptions,
): void {
  describe(`the engine of ${name}`, () => {
    let database: SqlDatabase;
    beforeAll(async () => {
      database = await open();
    });
    beforeEach(async () => {
      await as(["drop"], "DROP TABLE IF EXISTS t");
      await as(["create"], "CREATE TABLE t (x UNIQUE)");
      await as(["insert"], "INSERT INTO t VALUES (1)");
    });
    const as = (kinds: readonly StatementKind[], sql: string) =>
      database.run({ sql, params: [], kinds }, limits, never);
    const content = async (): Promise<unknown> => {
      const answer = await database.query({ sql: "SELECT x FROM t", params: [], kinds: ["select"] }, limits, never);
      return answer.ok ? answer.value.rows.map((row) => row.map(plain)) : answer.fault;
    };

    it.each([
      "INSERT INTO t VALUES (2)",
      "UPDATE t SET x = 2",
      "DELETE FROM t",
      "REPLACE INTO t VALUES (2)",
      "WITH a AS (SELECT 1) DELETE FROM t",
      "DELETE FROM t RETURNING x",
      "CREATE TABLE u (x)",
      "CREATE TEMP TABLE u (x)",
      "DROP TABLE t",
      "ALTER TABLE t RENAME TO u",
      "PRAGMA query_only = off",
      "PRAGMA writable_schema = on",
      "PRAGMA user_version = 7",
      "PRAGMA journal_mode = off",
      "PRAGMA table_info(t)",
      "SELECT * FROM pragma_database_list",
      "ATTACH 'other.db' AS other",
      "ATTACH ':memory:' AS other",
      "DETACH main",
      "VACUUM",
      "VACUUM INTO 'copy.db'",
      "REINDEX",
      "ANALYZE",
      "BEGIN",
      "BEGIN EXCLUSIVE",
      "SAVEPOINT s",
      "SELECT load_extension('x')",
      "SELECT * FROM sqlite_dbpage",
      "SELECT * FROM dbstat",
      "CREATE VIRTUAL TABLE v USING fts5(x)",
    ])("does not read with %s", async (sql) => {
      const answer = await database.query({ sql, params: [], kinds: ["select"] }, limits, never);
      expect(answer).toMatchObject({ ok: false });
      expect(await content()).toEqual([[1]]);
    });

    if (!holdsKinds) return;
    it.each([
      [["insert"], "DROP TABLE t"],
      [["insert"], "CREATE TABLE u (x)"],
      [["update"], "ALTER TABLE t ADD COLUMN y"],
      [["create"], "DROP TABLE t"],
      [["drop"], "CREATE TABLE u (x)"],
      [["create"], "DELETE FROM t WHERE 0; DROP TABLE t"],
      [["create"], "CREATE TEMP TABLE u (x)"],
      [["create"], "CREATE TRIGGER g AFTER INSERT ON t BEGIN DELETE FROM t; END"],
      [["create"], "CREATE VIRTUAL TABLE v USING fts5(x)"],
      [["insert"], "INSERT INTO t SELECT x + 1 FROM t"],
      [["insert"], "INSERT INTO t VALUES (2 IN t)"],
      [["insert"], "WITH u AS (SELECT x + 1 FROM t) INSERT INTO t SELECT * FROM u"],
      [["update"], "UPDATE t SET x = x + 1"],
      [["update"], "UPDATE t SET x = 2 WHERE x = 1"],
      [["update"], "UPDATE t SET x = 2 FROM sqlite_schema"],
      [["delete"], "DELETE FROM t WHERE x = 1"],
      [["delete"], "DELETE FROM t RETURNING x"],
      [["create"], "CREATE TABLE u AS SELECT x FROM t"],
      [["create"], "CREATE VIEW u AS SELECT x FROM t"],
      [["create"], "CREATE INDEX u ON t (x)"],
      [["alter"], "ALTER TABLE t ADD COLUMN y"],
      [["insert", "update", "delete"], "INSERT INTO sqlite_schema VALUES ('table', 'u', 'u', 0, '')"],
      [["insert", "update", "delete", "create", "alter", "drop"], "PRAGMA writable_schema = on"],
      [["insert", "update", "delete", "create", "alter", "drop"], "ATTACH 'other.db' AS other"],
      [
        ["insert", "update", "delete", "create", "alter", "drop"],
        "INSERT INTO sqlite_master VALUES ('table', 'u', 'u', 0, 'CREATE TABLE u (x)')",
      ],
      [["insert", "update", "delete", "create", "alter", "drop"], "UPDATE sqlite_master SET sql = ''"],
      [
        ["insert", "update", "delete", "create", "alter", "drop"],
        "INSERT INTO sqlite_dbpage VALUES (1, zeroblob(4096))",
      ],
      [["insert", "update", "delete", "create", "alter", "drop"], "VACUUM"],
      [["insert", "update", "delete", "create", "alter", "drop"], "BEGIN"],
      [["insert", "update", "delete", "create", "alter", "drop"], "COMMIT"],
    ] as const)("does not let %j do %s", async (kinds, sql) => {
      expect(await as(kinds, sql)).toMatchObject({ ok: false });
      expect(await content()).toEqual([[1]]);
      expect(await as(["insert"], "INSERT INTO t VALUES (2)")).toMatchObject({ ok: true });
    });
  });
}
