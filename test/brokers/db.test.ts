import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { nodeDatabase, type NodeDatabase } from "@keyhole/worker-host/node";
import { afterAll } from "vitest";
import { dbContract } from "../contract/db.ts";
import { dbEngineContract } from "../contract/db-engine.ts";
import { dbGrantsContract } from "../contract/db-grants.ts";

const root = mkdtempSync(join(tmpdir(), "keyhole-db-"));
const databases: NodeDatabase[] = [];
afterAll(() => {
  for (const each of databases) each.close();
  rmSync(root, { recursive: true });
});

function open(): NodeDatabase {
  const database = nodeDatabase(join(root, `${databases.length}.db`));
  databases.push(database);
  return database;
}

dbContract("a file", open, { exact: true, interrupts: true });
dbEngineContract("a file", open, { holdsKinds: true });
dbGrantsContract("a file", () => {
  const file = join(root, `${databases.length}.db`);
  const host = (sql: string): void => {
    const connection = new DatabaseSync(file);
    connection.exec(sql);
    connection.close();
  };
  return { database: open(), host };
});
