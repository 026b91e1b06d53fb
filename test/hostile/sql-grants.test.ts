import { copyFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { Capability, BrokerReply, StatementKind } from "@keyhole/kernel";
import { classifyStatement } from "@keyhole/kernel/statements";
import { dbBroker } from "@keyhole/worker-host/brokers/db";
import { nodeDatabase } from "@keyhole/worker-host/node";
import fc from "fast-check";
import { afterAll, expect, it } from "vitest";
import { openSession } from "../brokers/session.ts";
import { sized } from "../support/size.ts";
import { rowsWith, schema, statements } from "./sql-random.ts";

/** Two databases of one schema, which differ in what a tool without `db.read` must not learn. */
const root = mkdtempSync(join(tmpdir(), "keyhole-sql-grants-"));
const worlds = ["a", "[]"].map((secret, index) => {
  const [template, file] = [join(root, `${index}.template`), join(root, `${index}.db`)] as const;
  const made = new DatabaseSync(template);
  for (const sql of [...schema, ...rowsWith(secret)]) made.exec(sql);
  made.close();
  return { template, file, database: nodeDatabase(file) };
});
afterAll(() => {
  for (const { database } of worlds) database.close();
  rmSync(root, { recursive: true });
});

interface State {
  /** Text of each object of the schema, by its name. */
  readonly schema: ReadonlyMap<string, string>;
  readonly triggers: ReadonlyMap<string, string>;
  /** Of each table, its rows by their numbers. */
  readonly rows: ReadonlyMap<string, ReadonlyMap<string, string>>;
}

function stateOf(file: string): State {
  const database = new DatabaseSync(file, { readOnly: true });
  const objects = database.prepare("SELECT type, name, tbl_name, sql FROM sqlite_schema").all();
  const of = (type: string) => objects.filter((each) => each["type"] === type).map((each) => String(each["name"]));
  const rowsOf = (table: string): Map<string, string> =>
    new Map(
      database
        .prepare(`SELECT rowid AS "row", * FROM "${table.replaceAll('"', '""')}"`)
        .all()
        .map(({ row, ...rest }) => [String(row), JSON.stringify(rest)]),
    );
  const state = {
    // A view and a trigger can have one name.
    schema: new Map(
      objects.map(({ type, name, sql }) => [(type === "trigger" ? "trigger " : "") + String(name), String(sql)]),
    ),
    triggers: new Map(
      of("trigger").map((name) => [name, String(objects.find((each) => each["name"] === name)!["tbl_name"])]),
    ),
    rows: new Map(of("table").map((name) => [name, rowsOf(name)])),
  };
  database.close();
  return state;
}

/** What must have been granted for one state to become the other: of each entry, one kind. */
function* neededFor(before: State, after: State): Generator<readonly [why: string, ...StatementKind[]]> {
  for (const [name, sql] of before.schema) {
    const now = after.schema.get(name);
    if (now === undefined) yield [`${name} is gone`, "drop", "alter"];
    else if (now !== sql) yield [`${name} is another`, "alter"];
  }
  for (const name of after.schema.keys()) if (!before.schema.has(name)) yield [`${name} is new`, "create", "alter"];
  for (const [name, table] of before.triggers)
    if (!after.triggers.has(name) && after.schema.has(table)) yield [`${name} is gone without its table`];
  for (const [table, rows] of before.rows) {
    const now = after.rows.get(table);
    // What the host's triggers write, the host writes.
    if (now === undefined || table === "log" || before.schema.get(table) !== after.schema.get(table)) continue;
    if (table === "sqlite_sequence") {
      const counted = [...(after.rows.get("counted")?.keys() ?? [])];
      for (const [row, said] of now)
        if (said !== rows.get(row) && after.schema.has("counted"))
          yield counted.some((id) => said.includes(`"seq":${id}}`)) ? [said, "insert"] : [`${said} counts nothing`];
      continue;
    }
    if (now.size < rows.size) yield [`${table} has fewer rows`, "delete", "drop"];
    if (now.size > rows.size) yield [`${table} has more rows`, "insert"];
    for (const [row, said] of rows) {
      const is = now.get(row);
      if (is === undefined) yield [`${table} ${row} is gone`, "delete", "drop", "update"];
      else if (is !== said)
        yield [`${table} ${row} is another`, "update", "delete", ...(table === "child" ? (["drop"] as const) : [])];
    }
  }
}

const kinds: readonly StatementKind[] = ["insert", "update", "delete", "create", "alter", "drop"];
const compiler = new DatabaseSync(":memory:", { enableDoubleQuotedStringLiterals: false });
for (const sql of schema) compiler.exec(sql);

function compiles(sql: string): boolean {
  try {
    return Boolean(compiler.prepare(sql));
  } catch {
    return false;
  }
}

/** Statements that SQLite takes, and what is granted: as much as their words say that they change, or anything. */
const cases = statements.filter(compiles).chain((sql) => {
  const words = classifyStatement(sql);
  const changes = words.ok ? words.kinds.filter((kind) => kind !== "select") : [];
  return fc.record({
    sql: fc.constant(sql),
    writes: changes.length > 0 ? fc.oneof(fc.constant(changes), fc.subarray([...kinds])) : fc.subarray([...kinds]),
    reads: fc.oneof({ weight: 2, arbitrary: fc.constant(false) }, { weight: 1, arbitrary: fc.constant(true) }),
  });
});

async function perform(
  database: (typeof worlds)[number]["database"],
  capabilities: readonly Capability[],
  sql: string,
): Promise<BrokerReply> {
  const broker = dbBroker({ main: database }, { timeMs: 120_000 });
  const request = { kind: "db.write", operation: "run", arguments: { database: "main", sql, params: [] } } as const;
  const session = openSession({ grants: capabilities });
  const needs = await broker.needs(request);
  if (!needs.ok) return needs;
  const refusal = needs.needs.map((need) => session.refusal(need)).find((error) => error !== undefined);
  return refusal ? { ok: false, error: refusal } : broker.serve(request, session);
}

it("a random statement under a random grant changes and tells nothing beyond the grant", async () => {
  let done = 0;
  await fc.assert(
    fc.asyncProperty(cases, async ({ sql, writes, reads }) => {
      const capabilities: Capability[] = [{ kind: "db.write", databases: ["main"], statements: writes }];
      if (reads) capabilities.push({ kind: "db.read", databases: ["main"] });
      for (const { template, file } of worlds) copyFileSync(template, file);
      const replies = await Promise.all(worlds.map(({ database }) => perform(database, capabilities, sql)));
      // What a tool that may not read is told, and what it changes, is the same whatever there is to read.
      if (!reads) expect(replies[0]).toEqual(replies[1]);
      if (replies[0]!.ok) done++;
      for (const { template, file } of worlds)
        for (const [why, ...needed] of neededFor(stateOf(template), stateOf(file)))
          expect(
            needed.filter((kind) => writes.includes(kind)),
            why,
          ).not.toEqual([]);
    }),
    { numRuns: sized(150, 4_000) },
  );
  expect(done).toBeGreaterThan(sized(15, 600));
});
