import type { SqlDatabase, SqlLimits } from "@keyhole/worker-host/brokers/db";
import { opfsDatabase } from "@keyhole/worker-host/brokers/db-opfs";

const rows = [
  ["Mercury", 4_879, 0],
  ["Venus", 12_104, 0],
  ["Earth", 12_756, 1],
  ["Mars", 6_792, 2],
  ["Jupiter", 142_984, 95],
  ["Saturn", 120_536, 146],
  ["Uranus", 51_118, 28],
  ["Neptune", 49_528, 16],
] as const;

const limits: SqlLimits = { rows: 0, bytes: 0, timeMs: 5_000 };
const never = new AbortController().signal;

/** A database with a table in it, so that a person has something to ask for. Made with the first question. */
export function exampleDatabase(): SqlDatabase {
  const database = opfsDatabase({ name: "example" });
  let filled: Promise<unknown> | undefined;

  const fill = async (): Promise<void> => {
    const table =
      "CREATE TABLE IF NOT EXISTS planets (name TEXT PRIMARY KEY, diameter_km INTEGER, moons INTEGER) STRICT";
    await database.run({ sql: table, params: [], kinds: ["create"] }, limits, never);
    const insert = `INSERT OR IGNORE INTO planets VALUES ${rows.map(() => "(?, ?, ?)").join(", ")}`;
    await database.run({ sql: insert, params: rows.flat(), kinds: ["insert"] }, limits, never);
  };

  return {
    async query(statement, within, signal) {
      await (filled ??= fill());
      return database.query(statement, within, signal);
    },
    run: (statement, within, signal) => database.run(statement, within, signal),
  };
}
