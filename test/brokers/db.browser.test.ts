import { opfsDatabase, type OpfsDatabase } from "@keyhole/worker-host/brokers/db-opfs";
import { afterAll } from "vitest";
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
