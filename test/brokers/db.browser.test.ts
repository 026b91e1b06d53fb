import { opfsDatabase, type OpfsDatabase } from "@keyhole/worker-host/brokers/db-opfs";
import { afterAll, expect, it } from "vitest";
import { dbContract } from "../contract/db.ts";
import { dbEngineContract } from "../contract/db-engine.ts";
import { dbGrantsContract } from "../contract/db-grants.ts";

const databases: OpfsDatabase[] = [];
afterAll(() => databases.forEach((each) => each.close()));

function openDatabase(): OpfsDatabase {
  const database = opfsDatabase({ name: `contract-${databases.length}` });
  databases.push(database);
  return database;
}

dbContract("the origin private file system", openDatabase, { exact: true, interrupts: true });
dbEngineContract("the origin private file system", openDatabase, { holdsKinds: true });
dbGrantsContract("the origin private file system", () => ({ database: openDatabase() }), { part: "engine" });

it("one database of several tabs is open in each of them in turn", async () => {
  const limits = { timeMs: 10_000, rows: 10, bytes: 1_000 };
  const never = new AbortController().signal;
  const tabs = Array.from({ length: 3 }, () => opfsDatabase({ name: "shared" }));
  databases.push(...tabs);
  const create = { sql: "CREATE TABLE IF NOT EXISTS notes (tab)", params: [], kinds: ["create"] as const };
  expect(await tabs[0]!.run(create, limits, never)).toMatchObject({ ok: true });
  const insert = (tab: number) =>
    tabs[tab]!.run({ sql: "INSERT INTO notes VALUES (?)", params: [tab], kinds: ["insert"] }, limits, never);
  // The first tab has it open and idle, and all ask at once.
  const ended = await Promise.all([insert(1), insert(0), insert(2), insert(1)]);
  expect(ended.map(({ ok }) => ok)).toEqual([true, true, true, true]);
  const rows = { sql: "SELECT tab FROM notes ORDER BY tab", params: [], kinds: ["select"] as const };
  expect(await tabs[2]!.query(rows, limits, never)).toMatchObject({ value: { rows: [[0], [1], [1], [2]] } });
});
