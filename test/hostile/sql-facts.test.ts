import { constants as sqlite, DatabaseSync } from "node:sqlite";
import type { StatementKind } from "@keyhole/kernel";
import { classifyStatement } from "@keyhole/kernel/statements";
import fc from "fast-check";
import { expect, it } from "vitest";
import { sized } from "../support/size.ts";
import { foreignKeys, rowsWith, schema, statements, triggers } from "./sql-random.ts";

/** One thing that SQLite says a statement does, with names in lower case. */
interface Fact {
  readonly action: number;
  readonly first: string;
  readonly second: string;
  readonly within: string;
}

const database = new DatabaseSync(":memory:", { defensive: true, enableDoubleQuotedStringLiterals: false });
for (const sql of [...schema, ...rowsWith("a")]) database.exec(sql);

/** Nothing if SQLite does not take the statement. */
function factsOf(sql: string): readonly Fact[] | undefined {
  const facts: Fact[] = [];
  database.setAuthorizer((action, ...said) => {
    const [first = "", second = "", , within = ""] = said.map((each) => each?.toLowerCase() ?? "");
    facts.push({ action, first, second, within });
    return sqlite.SQLITE_OK;
  });
  try {
    database.prepare(sql);
    return facts;
  } catch {
    return undefined;
  } finally {
    database.setAuthorizer(null);
  }
}

const rowActions: ReadonlyMap<number, readonly StatementKind[]> = new Map([
  [sqlite.SQLITE_INSERT, ["insert"]],
  // A foreign key changes what refers to a row that goes.
  [sqlite.SQLITE_UPDATE, ["update", "delete", "drop"]],
  [sqlite.SQLITE_DELETE, ["delete", "drop"]],
]);
const schemaActions: ReadonlyMap<number, readonly StatementKind[]> = new Map([
  [sqlite.SQLITE_CREATE_INDEX, ["create"]],
  [sqlite.SQLITE_CREATE_TABLE, ["create"]],
  [sqlite.SQLITE_CREATE_VIEW, ["create"]],
  [sqlite.SQLITE_ALTER_TABLE, ["alter"]],
  [sqlite.SQLITE_REINDEX, ["create", "alter"]],
  [sqlite.SQLITE_DROP_INDEX, ["drop"]],
  [sqlite.SQLITE_DROP_TABLE, ["drop"]],
  [sqlite.SQLITE_DROP_VIEW, ["drop"]],
  // With its table: by itself its words are refused.
  [sqlite.SQLITE_DROP_TRIGGER, ["drop"]],
]);
const harmless = new Set([sqlite.SQLITE_SELECT, sqlite.SQLITE_FUNCTION, sqlite.SQLITE_RECURSIVE]);

/** One of these kinds it needs; none fits what no statement may do. */
function neededBy({ action, first, second, within }: Fact, facts: readonly Fact[]): readonly StatementKind[] | "none" {
  const ofEngine = first.startsWith("sqlite_");
  if (action === sqlite.SQLITE_READ) {
    const isMade = facts.some((each) => each.action === sqlite.SQLITE_CREATE_TABLE && each.first === first);
    const isKey = within === "" && foreignKeys.includes(`${first}.${second}`);
    const changesSchema = facts.some((each) => schemaActions.has(each.action));
    return isMade || isKey || triggers.includes(within) || (ofEngine && changesSchema) ? "none" : ["select"];
  }
  const row = rowActions.get(action);
  if (row && ofEngine) return ["create", "alter", "drop"];
  if (row) return within === "" ? row : ["insert", "update", "delete"];
  return harmless.has(action) ? "none" : (schemaActions.get(action) ?? []);
}

it("a statement does nothing but what its words were read to do, as SQLite compiles it", () => {
  let [compiled, plain] = [0, 0];
  fc.assert(
    fc.property(statements, (sql) => {
      const read = classifyStatement(sql);
      const facts = read.ok ? factsOf(sql) : undefined;
      if (!read.ok || !facts) return;
      compiled++;
      if (!read.kinds.includes("select")) plain++;
      const target = read.target?.toLowerCase();
      if (target !== undefined) expect(facts.find(({ action }) => rowActions.has(action))?.first).toBe(target);
      for (const fact of facts) {
        // A table that goes is asked for by foreign keys; that a view is changed by reading it, only the database knows.
        if (fact.action === sqlite.SQLITE_READ && (read.kinds.includes("drop") || fact.within === target)) continue;
        const needed = neededBy(fact, facts);
        if (needed !== "none")
          expect(
            needed.filter((kind) => read.kinds.includes(kind)),
            JSON.stringify(fact),
          ).not.toEqual([]);
      }
    }),
    { numRuns: sized(2_000, 300_000) },
  );
  // They are statements that SQLite takes, and many of them read nothing.
  expect(compiled).toBeGreaterThan(sized(400, 60_000));
  expect(plain).toBeGreaterThan(sized(100, 15_000));
});
