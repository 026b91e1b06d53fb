import type { Capability, BrokerReply, JsonObject, StatementKind } from "@keyhole/kernel";
import { classifyStatement } from "@keyhole/kernel/statements";
import { dbBroker, type SqlDatabase } from "@keyhole/worker-host/brokers/db";
import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { openSession } from "../brokers/session.ts";
import { type Part, runsWhole } from "../support/part.ts";

export interface DbGrantsSubject {
  readonly database: SqlDatabase;
  /** Runs a statement of the host, which nothing holds. Without it the host makes no triggers and no virtual tables. */
  readonly host?: (sql: string) => unknown;
}

const tables = [
  "CREATE TABLE secret (k)",
  "INSERT INTO secret VALUES ('a')",
  "CREATE TABLE t (id INTEGER PRIMARY KEY, x)",
  "INSERT INTO t VALUES (1, 'kept')",
  "CREATE TABLE conflicting (id INTEGER PRIMARY KEY ON CONFLICT REPLACE, x /* ' */ UNIQUE ON /**/ conflict\nreplace)",
  "INSERT INTO conflicting VALUES (1, 'kept'), (2, 'also')",
  "CREATE TABLE counted (id INTEGER PRIMARY KEY AUTOINCREMENT, x)",
  "INSERT INTO counted (x) VALUES ('kept')",
  "CREATE TABLE child (t REFERENCES t (id))",
  // SQLite keeps the case of letters beyond ASCII.
  "CREATE TABLE Äste (Ä REFERENCES t (id))",
  "CREATE VIEW shown AS SELECT k FROM secret",
];
const hostTables = [
  "CREATE TABLE noted (x)",
  "CREATE TABLE log (x)",
  "CREATE TRIGGER notes AFTER INSERT ON noted BEGIN INSERT INTO log SELECT k || new.x FROM secret; END",
  "CREATE TRIGGER shows INSTEAD OF INSERT ON shown BEGIN INSERT INTO log VALUES (new.k); END",
  "CREATE TRIGGER hides INSTEAD OF UPDATE ON shown BEGIN INSERT INTO log VALUES (old.k); END",
  "CREATE VIRTUAL TABLE searched USING fts5 (x)",
  "INSERT INTO searched VALUES ('kept')",
];
const views: ReadonlySet<string> = new Set(["shown", "viewed"]);
const names = [
  "shown",
  "viewed",
  "child",
  "Äste",
  "searched",
  "secret",
  "t",
  "conflicting",
  "counted",
  "noted",
  "log",
  "made",
  "renamed",
];

/** What is in the tables, in a form in which a difference can be read. */
const kept = `
  SELECT (SELECT group_concat(name) FROM (SELECT name FROM sqlite_schema WHERE name NOT LIKE 'searched%' ORDER BY name)),
    (SELECT group_concat(k) FROM secret), (SELECT group_concat(id || x) FROM t), (SELECT group_concat(id || x) FROM conflicting),
    (SELECT group_concat(id || x) FROM counted), (SELECT group_concat(name || seq) FROM sqlite_sequence)`;

const write = (...statements: StatementKind[]): Capability => ({ kind: "db.write", databases: ["main"], statements });
const read: Capability = { kind: "db.read", databases: ["main"] };
const everything = [write("insert", "update", "delete", "create", "alter", "drop"), read];

/** Statements that read, with the kinds that they need besides. */
const reading: readonly (readonly [StatementKind[], string])[] = [
  [["insert"], "INSERT INTO t (id) SELECT unicode(k) FROM secret"],
  [["insert"], "INSERT INTO t (id) SELECT unicode(k) FROM shown"],
  [["insert"], "INSERT INTO t (id) VALUES ((SELECT unicode(k) FROM secret))"],
  [["insert"], "INSERT INTO t (id) VALUES ((SELECT(unicode(k))FROM secret))"],
  [["insert"], "INSERT INTO t (x) VALUES ('a' IN secret)"],
  [["insert"], "WITH s AS (SELECT k FROM secret) INSERT INTO t (id) SELECT unicode(k) FROM s"],
  [["insert"], "INSERT INTO t VALUES (9, 1) RETURNING (SELECT k FROM secret)"],
  [["insert"], "INSERT INTO t VALUES (9, 1) RETURNING json(x)"],
  [["insert", "update"], "INSERT INTO t VALUES (1, 2) ON CONFLICT DO UPDATE SET x = (SELECT k FROM secret)"],
  [["insert", "update"], "INSERT INTO t VALUES (1, 2) ON CONFLICT (id) DO UPDATE SET x = t.x"],
  [["insert", "update"], "INSERT INTO t VALUES (1, 2) ON CONFLICT DO UPDATE SET x = 3 WHERE x = 'kept'"],
  [["insert", "update"], "INSERT INTO t AS excluded VALUES (1, 2) ON CONFLICT DO UPDATE SET x = excluded.x"],
  [["insert", "delete"], "REPLACE INTO t (id) SELECT unicode(k) FROM secret"],
  [["update"], "UPDATE t SET x = (SELECT k FROM secret)"],
  [["update"], "UPDATE t SET (id, x) = (SELECT 1, k FROM secret)"],
  [["update"], "UPDATE t SET x = 1 FROM secret WHERE k = 'a'"],
  [["update"], "UPDATE secret SET k = 1 WHERE k LIKE 'a%'"],
  [["update"], "UPDATE secret SET k = json(k)"],
  [["update"], "UPDATE t SET x = 't'.'x'"],
  [["update"], 'UPDATE t SET x = "x"'],
  [["delete"], "DELETE FROM secret WHERE k LIKE 'a%'"],
  [["delete"], "DELETE FROM t WHERE EXISTS (SELECT 1 FROM secret WHERE k LIKE 'a%')"],
  [["delete"], "WITH s AS (SELECT k FROM secret) DELETE FROM t WHERE x IN s"],
  [["delete"], "DELETE FROM t RETURNING json(x)"],
  [["create"], "CREATE TABLE made AS SELECT k FROM secret"],
  [["create"], "CREATE TABLE made (k REFERENCES secret (k))"],
  [["create"], "CREATE VIEW viewed AS SELECT k FROM secret"],
  [["create"], "CREATE UNIQUE INDEX made ON secret (k)"],
  [["create"], "CREATE INDEX made ON secret (lower(k)) WHERE k LIKE 'a%'"],
  [["alter"], "ALTER TABLE secret ADD COLUMN made AS (lower(k))"],
  [["alter"], "ALTER TABLE secret RENAME TO renamed"],
];

/** Statements that read nothing. */
const plain: readonly (readonly [StatementKind[], string])[] = [
  [["insert"], "INSERT INTO t VALUES (2, ?), (3, lower('B')), (4, -1.5e3), (5, x'00')"],
  [["insert"], "INSERT INTO child VALUES (1)"],
  [["insert"], "INSERT INTO t (x) VALUES (NULL) ON CONFLICT DO NOTHING"],
  [["insert"], "INSERT OR IGNORE INTO t VALUES (1, 2)"],
  [["insert"], "INSERT INTO counted DEFAULT VALUES"],
  [["insert", "update"], "INSERT INTO t VALUES (1, 2) ON CONFLICT DO UPDATE SET x = excluded.x"],
  [["insert", "delete"], "REPLACE INTO t VALUES (1, 2)"],
  [["insert", "delete"], "INSERT INTO conflicting VALUES (1, 2)"],
  [["update"], "UPDATE t SET x = coalesce(NULL, 1)"],
  [["delete"], "DELETE FROM t"],
  [["create"], "CREATE TABLE made (a INTEGER PRIMARY KEY CHECK (a > 1), b INT AS (a + 1)) STRICT, WITHOUT ROWID"],
  [["drop"], "DROP TABLE conflicting"],
  [["drop"], "DROP VIEW IF EXISTS main.shown"],
];

const own: readonly string[] = [
  "INSERT INTO sqlite_sequence VALUES ('t', 99)",
  "INSERT OR REPLACE INTO main.sqlite_sequence VALUES ('counted', 99)",
  'UPDATE "SQLite_Sequence" SET seq = 99',
  "UPDATE OR IGNORE [sqlite_sequence] SET seq = 99",
  "DELETE FROM `sqlite_sequence`",
  "DELETE FROM 'sqlite_sequence'",
  "DROP TABLE sqlite_sequence",
  "DROP TABLE main . sqlite_sequence",
  "ALTER TABLE sqlite_sequence ADD COLUMN made",
  "CREATE INDEX made ON sqlite_sequence (seq)",
  "INSERT INTO sqlite_schema VALUES ('table', 'made', 'made', 0, '')",
  "UPDATE sqlite_master SET name = 'made'",
  "WITH a AS (SELECT 1) DELETE FROM sqlite_sequence",
];

const replacing: readonly (readonly [StatementKind, string])[] = [
  ["insert", "INSERT INTO conflicting VALUES (1, 'new')"],
  ["insert", "INSERT INTO main.\"CONFLICTING\" VALUES (7, 'kept')"],
  ["update", "UPDATE conflicting SET id = 1"],
  ["update", "UPDATE conflicting SET x = 'same'"],
];

const triggered: readonly (readonly [StatementKind[], string, string])[] = [
  [["drop"], "DROP TRIGGER notes", "INVALID_REQUEST"],
  [["insert"], "INSERT INTO searched (searched) VALUES ('delete-all')", "CAPABILITY_DENIED"],
  [["insert", "update", "delete"], "INSERT INTO searched VALUES ('more')", "CAPABILITY_DENIED"],
  // Its rows are those of a SELECT.
  [["update"], "UPDATE shown SET k = 1", "CAPABILITY_DENIED"],
  // What a trigger of the host reads and writes is the host's doing.
  [["insert"], "INSERT INTO noted VALUES ('b')", "ok"],
  [["insert"], "INSERT INTO shown VALUES ('b')", "ok"],
  [["drop"], "DROP TABLE noted", "ok"],
];

type Ask = (operation: "query" | "run", grants: readonly Capability[], sql: string) => Promise<BrokerReply>;

/** What a grant holds, whatever the engine and the schema of the host: nothing is read or changed beyond it. `open` gives an empty database. */
export function dbGrantsContract(
  name: string,
  open: () => DbGrantsSubject | Promise<DbGrantsSubject>,
  { part }: { part?: Part } = {},
): void {
  // The broker decides before the engine does: where the engine is slow, every twelfth statement is enough.
  const some = <Row>(rows: readonly Row[]): readonly Row[] =>
    runsWhole(part) ? rows : rows.filter((_, at) => at % 12 === 0);

  describe(`grants for a database in ${name}`, () => {
    let subject: DbGrantsSubject;
    beforeAll(async () => {
      subject = await open();
    });
    beforeEach(async () => {
      const { database, host = (sql) => asHost(database, sql) } = subject;
      for (const each of names) await host(`DROP ${views.has(each) ? "VIEW" : "TABLE"} IF EXISTS ${each}`);
      for (const each of [...tables, ...(subject.host ? hostTables : [])]) await host(each);
    });
    const ask: Ask = (operation, grants, sql) => asked(subject.database, operation, grants, sql);

    it.each(some(plain))("%j alone is enough for %s", async (kinds, sql) => {
      expect(await ask("run", [write(...kinds)], sql)).toMatchObject({ ok: true });
    });

    it.each(runsWhole(part) ? triggered : [])(
      "%j, where the host has triggers and virtual tables: %s is %s",
      async (kinds, sql, expected) => {
        if (!subject.host) return;
        const made =
          "SELECT count(*) FROM sqlite_schema WHERE type = 'trigger' UNION ALL SELECT count(*) FROM searched";
        const before = await ask("query", [read], made);
        expect(codeOf(await ask("run", [write(...kinds)], sql))).toBe(expected);
        if (expected !== "ok") expect(await ask("query", [read], made)).toEqual(before);
      },
    );

    describeRefused(ask, some);
  });
}

function describeRefused(ask: Ask, some: <Row>(rows: readonly Row[]) => readonly Row[]): void {
  const content = (): Promise<BrokerReply> => ask("query", [read], kept);

  it.each(some(reading))("%j alone does not read with %s", async (kinds, sql) => {
    const before = await content();
    expect(before).toMatchObject({ ok: true });
    expect(codeOf(await ask("run", [write(...kinds)], sql))).toBe("CAPABILITY_DENIED");
    expect(await content()).toEqual(before);
    const granted = await ask("run", [write(...kinds), read], sql);
    expect(granted.ok || granted.error.message).toSatisfy((said) => said === true || /JSON|column/.test(String(said)));
  });

  it.each(some(own))("nothing changes the engine's own tables: %s", async (sql) => {
    const before = await content();
    expect(codeOf(await ask("run", everything, sql))).toBe("INVALID_REQUEST");
    expect(await content()).toEqual(before);
    const next = await ask("run", everything, "INSERT INTO counted (x) VALUES ('next')");
    expect(next).toMatchObject({ ok: true, value: { lastInsertRowId: 2 } });
  });

  it.each(some(replacing))("%s replaces no row, also where the table says REPLACE: %s", async (kind, sql) => {
    const before = await content();
    expect(codeOf(await ask("run", [write(kind), read], sql))).toBe("CAPABILITY_DENIED");
    expect(await content()).toEqual(before);
    expect(await ask("run", [write(kind, "delete"), read], sql)).toMatchObject({ ok: true });
  });

  it("tells of a change nothing that another one did", async () => {
    await ask("run", everything, "INSERT INTO t VALUES (4711, 'x'), (4712, 'x')");
    for (const sql of [
      "INSERT OR IGNORE INTO t VALUES (1, 'x')",
      "UPDATE t SET x = 'y' WHERE id = 0",
      "DELETE FROM t WHERE id = 0",
      "CREATE TABLE made (x)",
    ])
      expect(await ask("run", everything, sql), sql).toEqual({ ok: true, value: { changes: 0, lastInsertRowId: 0 } });
  });
}

const codeOf = (reply: BrokerReply): string => (reply.ok ? "ok" : reply.error.code);

async function asked(
  database: SqlDatabase,
  operation: "query" | "run",
  grants: readonly Capability[],
  sql: string,
): Promise<BrokerReply> {
  const kind = operation === "run" ? "db.write" : "db.read";
  const params = sql.includes("?") ? [1] : [];
  const args: JsonObject = { database: "main", sql, params };
  const request = { kind, operation, arguments: args } as const;
  const broker = dbBroker({ main: database }, { timeMs: 120_000 });
  const session = openSession({ grants });
  const needs = await broker.needs(request);
  if (!needs.ok) return needs;
  const error = needs.needs.map((need) => session.refusal(need)).find((refusal) => refusal !== undefined);
  return error ? { ok: false, error } : broker.serve(request, session);
}

/** A host that has nothing but the broker makes tables all the same. */
async function asHost(database: SqlDatabase, sql: string): Promise<void> {
  const read = classifyStatement(sql);
  const kinds = read.ok ? read.kinds : [];
  const limits = { rows: 0, bytes: 0, timeMs: 120_000 };
  const statement = { sql, params: [], kinds: kinds.includes("insert") ? [...kinds, "delete" as const] : kinds };
  const answer = await database.run(statement, limits, new AbortController().signal);
  expect(answer, sql).toMatchObject({ ok: true });
}
