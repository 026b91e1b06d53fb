import type { StatementKind } from "@keyhole/kernel";
import type { SqlDatabase, SqlLimits, SqlResult, SqlValue } from "@keyhole/worker-host/brokers/db";
import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { limits, never, plain } from "./db-values.ts";

export interface DbContractOptions {
  /** Whether integers of 64 bits, infinities and BLOBs of any content pass as they are (D1 has doubles only). */
  readonly exact: boolean;
  /** Whether the engine ends a statement at its time. */
  readonly interrupts: boolean;
}

/** What every database must do, whatever is behind it. `open` gives an empty one, which serves all tests in turn. */
export function dbContract(
  name: string,
  open: () => SqlDatabase | Promise<SqlDatabase>,
  { exact, interrupts }: DbContractOptions,
): void {
  describe(`a database in ${name}`, () => {
    let database: SqlDatabase;
    beforeAll(async () => {
      database = await open();
    });
    beforeEach(async () => {
      for (const table of ["t", "notes"]) await run(`DROP TABLE IF EXISTS ${table}`, [], ["drop"]);
    });

    const query = (sql: string, params: readonly SqlValue[] = [], more: Partial<SqlLimits> = {}, signal = never) =>
      database.query({ sql, params, kinds: ["select"] }, { ...limits, ...more }, signal);
    const run = (
      sql: string,
      params: readonly SqlValue[] = [],
      kinds: readonly StatementKind[] = ["insert", "update", "delete", "select"],
      more: Partial<SqlLimits> = {},
    ) => database.run({ sql, params, kinds }, { ...limits, ...more }, never);
    const create = async (sql: string): Promise<void> =>
      expect(await run(sql, [], ["create", "select"]), sql).toMatchObject({ ok: true });
    const rowsOf = async (sql: string, params: readonly SqlValue[] = []): Promise<unknown> => {
      const answer = await query(sql, params);
      return answer.ok ? answer.value.rows.map((row) => row.map(plain)) : answer.fault;
    };
    const reasonOf = (answer: SqlResult<unknown>): string => (answer.ok ? "ok" : answer.fault.reason);

    it("makes a table, changes it and reads it", async () => {
      await create("CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT NOT NULL) STRICT");
      expect(await run("INSERT INTO notes (text) VALUES (?), (?)", ["a", "b"])).toMatchObject({
        ok: true,
        value: { changes: 2 },
      });
      expect(await run("UPDATE notes SET text = ? WHERE id = ?", ["c", 2])).toMatchObject({
        ok: true,
        value: { changes: 1 },
      });
      expect(await query("SELECT id, text FROM notes ORDER BY id")).toMatchObject({
        ok: true,
        value: { columns: ["id", "text"] },
      });
      expect(await rowsOf("SELECT id, text FROM notes ORDER BY id")).toEqual([
        [1, "a"],
        [2, "c"],
      ]);
      expect(await run("DELETE FROM notes WHERE id = 1")).toMatchObject({ ok: true, value: { changes: 1 } });
      expect(await rowsOf("SELECT count(*) FROM notes")).toEqual([[1]]);
      expect(reasonOf(await run("ALTER TABLE notes RENAME COLUMN text TO body", [], ["alter", "select"]))).toBe("ok");
      expect(reasonOf(await run("ALTER TABLE notes DROP COLUMN body", [], ["alter", "select"]))).toBe("ok");
      await create("CREATE INDEX by_id ON notes (id)");
      await create("CREATE VIEW ids AS SELECT id FROM notes");
      expect(await rowsOf("SELECT id FROM ids")).toEqual([[2]]);
      for (const sql of ["DROP VIEW ids", "DROP INDEX by_id", "DROP TABLE notes"])
        expect(reasonOf(await run(sql, [], ["drop"])), sql).toBe("ok");
    });

    it("says the row that was inserted last", async () => {
      await create("CREATE TABLE t (id INTEGER PRIMARY KEY)");
      const answer = await run("INSERT INTO t VALUES (41), (42)", [], ["insert"]);
      expect(answer.ok && Number(answer.value.lastInsertRowId)).toBe(42);
    });

    it("gives the columns of an answer without rows, also of those without a name of their own", async () => {
      expect(await query("SELECT 1 AS one, 'x' AS \"a b\" WHERE 0")).toEqual({
        ok: true,
        value: { columns: ["one", "a b"], rows: [] },
      });
    });

    it("carries every value as a parameter, and never as words", async () => {
      await create("CREATE TABLE t (a, b TEXT, c BLOB)");
      const hostile = ["'); DROP TABLE t; --", "?", ":a", '"', "\\", "", "😀 é\r\n\t"];
      for (const text of hostile) {
        await run("DELETE FROM t");
        await run("INSERT INTO t VALUES (NULL, ?, ?)", [text, new Uint8Array([0, 255, 39])]);
        expect(await rowsOf("SELECT a, b, c FROM t WHERE b = ?", [text])).toEqual([[null, text, [0, 255, 39]]]);
      }
    });

    it("carries a NUL inside a text", async () => {
      const answer = await rowsOf("SELECT ?, length(CAST(? AS BLOB))", ["a\0b", "a\0b"]);
      expect(answer).toEqual([["a\0b", 3]]);
    });

    if (exact)
      it("carries integers of 64 bits and infinities; what is no number is NULL", async () => {
        const largest = 2n ** 63n - 1n;
        expect(await rowsOf("SELECT ?, ? + 1, typeof(?)", [largest, -largest, 1n])).toEqual([
          [largest, -largest + 1n, "integer"],
        ]);
        expect(await rowsOf("SELECT 9e999, -9e999, 9e999 - 9e999, 1.5, typeof(?)", [0.5])).toEqual([
          [Infinity, -Infinity, null, 1.5, "real"],
        ]);
      });

    it("gives text that is no UTF-8 as text, whatever it makes of it", async () => {
      const answer = await query("SELECT CAST(x'61ff62' AS TEXT)");
      expect(answer.ok && typeof answer.value.rows[0]?.[0]).toBe("string");
    });

    it("gives as many rows as it may, and refuses one more", async () => {
      const numbers = (count: number) =>
        `WITH RECURSIVE n (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < ${count}) SELECT x FROM n`;
      expect(await rowsOf(numbers(10))).toHaveLength(10);
      expect(reasonOf(await query(numbers(11)))).toBe("too-many-rows");
      expect(reasonOf(await query(numbers(1_000_000)))).toBe("too-many-rows");
      expect(await rowsOf("SELECT 1")).toEqual([[1]]);
    });

    it("gives as many bytes as it may, and refuses more", async () => {
      expect(reasonOf(await query("SELECT ?", ["x".repeat(10_000)]))).toBe("ok");
      expect(reasonOf(await query("SELECT ?", ["x".repeat(10_001)]))).toBe("too-large");
      expect(reasonOf(await query("SELECT zeroblob(1000000)"))).toBe("too-large");
      expect(reasonOf(await query("SELECT zeroblob(2000000000)"))).toBe("too-large");
      expect(await rowsOf("SELECT 1")).toEqual([[1]]);
    });

    if (interrupts) {
      it.each([
        ["query", "WITH RECURSIVE n (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT count(*) FROM n"],
        [
          "run",
          "INSERT INTO t WITH RECURSIVE n (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT x FROM n WHERE x < 0",
        ],
      ])("ends a statement that does not: %s", async (operation, sql) => {
        await create("CREATE TABLE t (x)");
        await run("INSERT INTO t VALUES (1)");
        const answer =
          operation === "query"
            ? await query(sql, [], { timeMs: 200 })
            : await run(sql, [], ["insert"], { timeMs: 200 });
        expect(reasonOf(answer)).toBe("too-slow");
        expect(await rowsOf("SELECT x FROM t")).toEqual([[1]]);
        expect(reasonOf(await run("INSERT INTO t VALUES (2)"))).toBe("ok");
      });

      it("does not serve a call that has ended, and answers at once one that ends", async () => {
        expect(reasonOf(await query("SELECT 1", [], {}, AbortSignal.abort()))).toBe("cancelled");
        const controller = new AbortController();
        await query("SELECT 1");
        const endless = query(
          "WITH RECURSIVE n (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT count(*) FROM n",
          [],
          { timeMs: 3_000 },
          controller.signal,
        );
        const waiting = query("SELECT 1", [], {}, controller.signal);
        controller.abort();
        expect([reasonOf(await endless), reasonOf(await waiting)]).toEqual(["cancelled", "cancelled"]);
        expect(await rowsOf("SELECT 1")).toEqual([[1]]);
      });
    }

    it.each(["SELEC 1", "SELECT * FROM missing", "SELECT missing_function(1)", "SELECT 1 +", "SELECT 'open"])(
      "says that the statement is wrong: %s",
      async (sql) => {
        const answer = await query(sql);
        expect(reasonOf(answer)).toBe("rejected");
        expect(!answer.ok && answer.fault.message).not.toBe("");
      },
    );

    it("takes no more values than the statement has places", async () => {
      expect(reasonOf(await query("SELECT ?", [1, 2]))).toBe("rejected");
      expect(reasonOf(await query("SELECT ?, ?", [1, 2]))).toBe("ok");
    });

    it("says which constraint a change breaks, and makes no part of it", async () => {
      await create("CREATE TABLE t (x UNIQUE)");
      const answer = await run("INSERT INTO t VALUES (1), (1)");
      expect(reasonOf(answer)).toBe("rejected");
      expect(!answer.ok && answer.fault.message).toContain("UNIQUE");
      expect(await rowsOf("SELECT count(*) FROM t")).toEqual([[0]]);
    });

    it("keeps the turns of many at once", async () => {
      await create("CREATE TABLE t (x)");
      await Promise.all(Array.from({ length: 20 }, (_, i) => run("INSERT INTO t VALUES (?)", [i])));
      expect(await rowsOf("SELECT count(*), count(DISTINCT x) FROM t")).toEqual([[20, 20]]);
    });
  });
}
