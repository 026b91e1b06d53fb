import { env } from "cloudflare:workers";
import { d1Database, type D1DatabaseLike } from "@keyhole/worker-host/brokers/db-d1";
import { expect, it } from "vitest";
import { dbContract } from "../contract/db.ts";
import { dbEngineContract } from "../contract/db-engine.ts";
import { dbGrantsContract } from "../contract/db-grants.ts";

const binding = (env as unknown as { readonly DATABASE: D1Database }).DATABASE;
const database = d1Database(binding);

/** Empties the one database that there is. */
async function open(): Promise<typeof database> {
  const { results } = await binding
    .prepare(
      "SELECT type, name FROM sqlite_schema WHERE type IN ('table', 'view') AND name NOT LIKE '!_%' ESCAPE '!' AND name NOT LIKE 'sqlite!_%' ESCAPE '!'",
    )
    .all<{ type: string; name: string }>();
  for (const { type, name } of results) await binding.prepare(`DROP ${type} "${name}"`).run();
  return database;
}

dbContract("D1", open, { exact: false, interrupts: false });
dbEngineContract("D1", open, { holdsKinds: false });
dbGrantsContract("D1", async () => ({ database: await open(), host: (sql) => binding.prepare(sql).run() }));

it("the database of the platform is one", () => {
  const same: D1DatabaseLike = binding;
  expect(same).toBe(binding);
});
