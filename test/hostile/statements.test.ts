import { classifyStatement } from "@keyhole/kernel/statements";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { sized } from "../support/size.ts";

describe("a statement", () => {
  const kinds = (sql: string): string => {
    const statement = classifyStatement(sql);
    return statement.ok ? statement.kinds.join(" ") : "refused";
  };

  it.each([
    ["SELECT 1", "select"],
    ["select * from t;", "select"],
    ["  \n-- a comment\n/* and ; another */ SELECT ';' AS \"a;b\" FROM [c;d]", "select"],
    ["SELECT 1; -- a comment", "select"],
    ["VALUES (1), (2)", "select"],
    ["WITH a AS (SELECT 1) SELECT * FROM a", "select"],
    ["WITH RECURSIVE a(n) AS (VALUES (1) UNION SELECT n + 1 FROM a) SELECT n FROM a", "select"],
    ["WITH a AS NOT MATERIALIZED (SELECT 1), b AS MATERIALIZED (SELECT 2) DELETE FROM t", "delete"],
    ["WITH replace AS (SELECT 1) DELETE FROM t", "delete"],
    ['WITH "select" AS (SELECT 1) UPDATE t SET a = 1', "update"],
    ["INSERT INTO t VALUES (1)", "insert"],
    ["INSERT OR IGNORE INTO t VALUES (1)", "insert"],
    ["INSERT OR REPLACE INTO t VALUES (1)", "delete insert"],
    ["REPLACE INTO t VALUES (1)", "delete insert"],
    ["INSERT INTO t VALUES (1) ON CONFLICT (a) DO UPDATE SET a = 2", "insert update"],
    ["INSERT INTO t VALUES (1) ON CONFLICT (a) DO/**/UPDATE SET a = 2", "insert update"],
    ["INSERT INTO t VALUES (1) ON CONFLICT DO NOTHING", "insert"],
    ["UPDATE OR REPLACE t SET a = 1", "delete update"],
    ["DELETE FROM t RETURNING *", "delete"],
    ["CREATE TABLE t (a)", "create"],
    ["CREATE TEMP VIEW v AS SELECT 1", "create"],
    ["CREATE UNIQUE INDEX i ON t (a)", "create"],
    ["ALTER TABLE t ADD COLUMN b", "alter"],
    ["DROP TABLE t", "drop"],
  ])("%j is %s", (sql, expected) => {
    expect(kinds(sql)).toBe(expected);
  });

  it.each([
    "",
    ";",
    "-- nothing",
    "SELECT 1; DROP TABLE t",
    "SELECT 1;;",
    "SELECT (1; DROP TABLE t)",
    "/* SELECT */ PRAGMA writable_schema = 1",
    "PRAGMA table_info(t)",
    "ATTACH 'x' AS y",
    "DETACH y",
    "VACUUM INTO 'x'",
    "BEGIN",
    "COMMIT",
    "SAVEPOINT a",
    "EXPLAIN SELECT 1",
    "CREATE VIRTUAL TABLE v USING csv('x')",
    "CREATE TRIGGER g AFTER INSERT ON t BEGIN DELETE FROM t; END",
    "CREATE TEMP TRIGGER g AFTER INSERT ON t BEGIN SELECT 1 END",
    "WITH a AS SELECT 1",
    "WITH a AS (SELECT 1",
    "WITH a AS (SELECT 1))) DELETE FROM t",
    "WITH",
    "WITH a AS (SELECT 1),",
    "SELECT 'open",
    'SELECT "open',
    "SELECT [open",
    "SELECT 'a''",
    "(SELECT 1)",
    "SELECT\u00a01",
    "\ufeffSELECT 1",
    "INSERT INTO t VALUES (1) ON CONFLICT DO\ufeffUPDATE SET a = 1",
    "SELECT 1\u0000; DROP TABLE t",
    "SELECT\u000b1",
    "ſelect 1",
    `SELECT ${"(".repeat(50_000)}`,
    "SELECT '\ud800'",
    `SELECT '${"a".repeat(100_000)}'`,
  ])("%j is refused", (sql) => {
    expect(kinds(sql)).toBe("refused");
  });

  it("is read in time that grows with its length", () => {
    for (const piece of ["(", ")", "'", '"', "/*", "--", "''", "[", "WITH a AS (", ",", "\n"])
      expect(kinds(piece.repeat(Math.floor(99_000 / piece.length)))).toBe("refused");
  });

  it("never throws, and never gives no kind", () => {
    const pieces = fc.constantFrom(
      "WITH",
      "a",
      "AS",
      "(",
      ")",
      ";",
      "'",
      "--",
      "\n",
      "/*",
      "*/",
      "SELECT",
      "DELETE",
      ",",
      '"',
      "DO",
      "UPDATE",
    );
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 20 }), (words) => {
        const statement = classifyStatement(words.join(" "));
        if (statement.ok) expect(statement.kinds.length).toBeGreaterThan(0);
      }),
      { numRuns: sized(250, 2_000) },
    );
  });
});

/** SQLite reads `$name(…)` as one parameter, up to the next `)`: a quote inside does not begin a string. */
describe("a statement with a parameter", () => {
  it.each([
    "WITH x AS (SELECT $a(')) DELETE FROM t -- ')) SELECT 1",
    "WITH x AS (SELECT :a(')) DELETE FROM t -- ')) SELECT 1",
    "WITH x AS (SELECT @a(')) DELETE FROM t -- ')) INSERT INTO t VALUES (1)",
    "WITH x AS (SELECT #a(')) DELETE FROM t -- ')) SELECT 1",
    "WITH x AS (SELECT $a::b(')) DELETE FROM t -- ')) SELECT 1",
    "WITH x AS (SELECT $::(')) DELETE FROM t -- ')) SELECT 1",
    "WITH x AS (SELECT a:b(')) DELETE FROM t -- ')) SELECT 1",
    "SELECT $a('); DELETE FROM t; -- ')",
  ])("with a parenthesis is refused: %j", (sql) => {
    expect(classifyStatement(sql).ok).toBe(false);
  });

  it.each(["SELECT :a, $b, @c, ?1", "SELECT a$b(1)", "SELECT (:a)", "SELECT :a IN (1)", "SELECT $a::b"])(
    "without a parenthesis is a select: %j",
    (sql) => {
      expect(classifyStatement(sql)).toEqual({ ok: true, kinds: ["select"] });
    },
  );
});
