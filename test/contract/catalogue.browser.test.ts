import { browserHost } from "@keyhole/worker-host/browser";
import { opfsDatabase, type OpfsDatabase } from "@keyhole/worker-host/brokers/db-opfs";
import { indexedDbKv } from "@keyhole/worker-host/brokers/kv-indexeddb";
import { afterAll } from "vitest";
import { cataloguePackages, describeCatalogue } from "./catalogue.ts";

const database: OpfsDatabase = opfsDatabase({ name: "catalogue" });
afterAll(() => database.close());

describeCatalogue("browser", cataloguePackages, async () => ({
  host: await browserHost(),
  values: indexedDbKv({ database: "catalogue" }),
  database,
}));
