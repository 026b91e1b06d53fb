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
    ["WITH a AS NOT MATERIALIZED (SELECT 1), b AS MATERIALIZED (SELECT 2) DELETE FROM t", "delete select"],
    ["WITH replace AS (SELECT 1) DELETE FROM t", "delete select"],
    ['WITH "select" AS (SELECT 1) UPDATE t SET a = 1', "select update"],
    ["INSERT INTO t VALUES (1)", "insert"],
    ["INSERT OR IGNORE INTO t VALUES (1)", "insert"],
    ["INSERT OR REPLACE INTO t VALUES (1)", "delete insert"],
    ["REPLACE INTO t VALUES (1)", "delete insert"],
    ["INSERT INTO t VALUES (1) ON CONFLICT (a) DO UPDATE SET a = 2", "insert select update"],
    ["INSERT INTO t VALUES (1) ON CONFLICT (a) DO/**/UPDATE SET a = 2", "insert select update"],
    ["INSERT INTO t VALUES (1) ON CONFLICT DO NOTHING", "insert"],
    ["UPDATE OR REPLACE t SET a = 1", "delete update"],
    ["DELETE FROM t RETURNING *", "delete select"],
    ["CREATE TABLE t (a)", "create"],
    ["CREATE TABLE t AS SELECT 1", "create select"],
    ["CREATE VIEW v AS SELECT 1", "create select"],
    ["CREATE UNIQUE INDEX i ON t (a)", "create select"],
    ["ALTER TABLE t ADD COLUMN b", "alter select"],
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
    "CREATE TEMP VIEW v AS SELECT 1",
    "CREATE TEMPORARY TABLE t (a)",
    "CREATE UNIQUE TABLE t (a)",
    "DROP TRIGGER g",
    "DROP TRIGGER IF EXISTS main.g",
    "DROP TABLE t, u",
    "DROP TABLE t CASCADE",
    "DELETE FROM temp.t",
    "DELETE FROM temp . temp",
    'INSERT INTO "other"."t" VALUES (1)',
    "INSERT t VALUES (1)",
    "UPDATE",
    "DELETE t",
    "CREATE INDEX i",
    "ALTER VIEW v RENAME TO w",
    "SELECT 1x",
    "SELECT 0x",
    "SELECT 1e5e",
    "SELECT {a}",
    "SELECT \\ 1",
    "WITH a AS (SELECT 1) CREATE TABLE t (a)",
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

  it.each([
    "INSERT INTO t VALUES (1)",
    "INSERT INTO t (a, \"b\", [c], `d`) VALUES (1, 'a', x'00', ?), (?2, :a, @b, $c::d), (-1.5e+3, .5, 1., 0xff)",
    "INSERT INTO main.t AS u DEFAULT VALUES",
    "INSERT OR ABORT INTO t VALUES (lower('A') || hex(x'00'), abs(-1), (1), NOT NULL IS TRUE, CURRENT_DATE)",
    "INSERT INTO t VALUES (1) ON CONFLICT DO NOTHING",
    "REPLACE INTO t VALUES (1)",
    'INSERT INTO t VALUES (1) ON CONFLICT DO UPDATE SET a = excluded.a, (b, c) = (excluded."b", 1)',
    "UPDATE t SET a = 1, b = 'a', (c, d) = (1, coalesce(NULL, ?))",
    "UPDATE OR IGNORE t AS u SET a = 1;",
    "DELETE FROM t",
    "DELETE FROM t AS u",
    "CREATE TABLE IF NOT EXISTS t (a CHECK (a > 1), b AS (a + 1), c DEFAULT (1)) WITHOUT ROWID, STRICT",
    "DROP TABLE IF EXISTS main.t",
  ])("surely reads nothing: %j", (sql) => {
    expect(kinds(sql)).not.toMatch(/select|refused/);
  });

  // Of each, SQLite makes something that reads a column, a table or an index.
  it.each([
    "INSERT INTO t SELECT 1",
    "INSERT INTO t VALUES ((SELECT 1))",
    "INSERT INTO t VALUES ((SELECT(1)FROM(u)))",
    "INSERT INTO t VALUES ((SELECT(count(*))FROM(pragma_table_info('u'))))",
    "INSERT INTO t VALUES (1 IN u)",
    "INSERT INTO t VALUES (1 IN json_each('[1]'))",
    "INSERT INTO t VALUES (1 IN (u))",
    "INSERT INTO t VALUES (EXISTS (VALUES (1)))",
    "INSERT INTO t VALUES (unknown(1))",
    'INSERT INTO t VALUES ("abs"(1))',
    'INSERT INTO t VALUES ("a")',
    "INSERT INTO t VALUES (1), (SELECT 1)",
    "INSERT INTO t VALUES (1) UNION SELECT 1",
    "INSERT INTO t (SELECT 1)",
    "INSERT INTO t VALUES (1) RETURNING 1",
    "INSERT INTO t VALUES (1) ON CONFLICT (a) DO NOTHING",
    "INSERT INTO t VALUES (1) ON CONFLICT DO UPDATE SET a = 1 WHERE a = 1",
    "INSERT INTO t VALUES (1) ON CONFLICT DO UPDATE SET a = t.a",
    "INSERT INTO t VALUES (1) ON CONFLICT DO UPDATE SET a = 'excluded'.a",
    "INSERT INTO t AS Excluded VALUES (1) ON CONFLICT DO UPDATE SET a = excluded.a",
    'INSERT INTO "excluded" VALUES (1) ON CONFLICT DO UPDATE SET a = excluded.a',
    "WITH a AS (SELECT 1) INSERT INTO t VALUES (1)",
    "UPDATE t SET a = b",
    "UPDATE t SET a = 't'.'a'",
    "UPDATE t SET a = t . a",
    'UPDATE t SET a = "b"',
    "UPDATE t SET a = [b]",
    "UPDATE t SET a = end",
    "UPDATE t SET a = like",
    "UPDATE t SET a = CASE end WHEN 1 THEN 1 END",
    "UPDATE t SET a = rowid",
    "UPDATE t SET a = abs(b)",
    "UPDATE t SET a = abs",
    "UPDATE t SET a = é",
    "UPDATE t SET a = excluded.a",
    "UPDATE t SET a = 1 WHERE 1",
    "UPDATE t SET a = 1 FROM u",
    "UPDATE t SET a = 1 RETURNING a",
    "UPDATE t INDEXED BY i SET a = 1",
    "UPDATE t SET (a) = (SELECT 1)",
    "DELETE FROM t WHERE 1",
    "DELETE FROM t RETURNING 1",
    "CREATE TABLE t (a REFERENCES u (a))",
    "CREATE TABLE t (a, FOREIGN KEY (a) REFERENCES u)",
    "CREATE TABLE t AS VALUES (1)",
    "CREATE INDEX i ON t (a)",
  ])("may read: %j", (sql) => {
    expect(kinds(sql)).toContain("select");
  });

  it.each(["t", '"T"', "[t]", "`t`", "'t'", "main.t", "Main . t"])("changes the table %s", (name) => {
    for (const sql of [`INSERT INTO ${name} VALUES (1)`, `UPDATE OR FAIL ${name} SET a = 1`, `DELETE FROM ${name}`])
      expect(classifyStatement(sql)).toMatchObject({ target: expect.stringMatching(/^t$/i) as string });
  });

  it.each([
    "sqlite_sequence",
    '"SQLITE_Sequence"',
    "[sqlite_stat1]",
    "`sqlite_x`",
    "'sqlite_schema'",
    "main.sqlite_schema",
  ])("changes no table of the engine's own: %s", (name) => {
    for (const sql of [
      `INSERT INTO ${name} VALUES (1)`,
      `INSERT OR IGNORE INTO ${name} VALUES (1)`,
      `REPLACE INTO ${name} VALUES (1)`,
      `UPDATE ${name} SET a = 1`,
      `UPDATE OR REPLACE ${name} SET a = 1`,
      `DELETE FROM ${name}`,
      `WITH a AS (SELECT 1) DELETE FROM ${name}`,
      `CREATE TABLE ${name} (a)`,
      `CREATE INDEX i ON ${name} (a)`,
      `ALTER TABLE ${name} ADD COLUMN a`,
      `DROP TABLE ${name}`,
      `DROP INDEX IF EXISTS ${name}`,
    ])
      expect(kinds(sql), sql).toBe("refused");
    expect(kinds(`SELECT * FROM ${name}`)).toBe("select");
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
