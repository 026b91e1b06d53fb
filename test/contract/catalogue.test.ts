import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { memoryKv } from "@keyhole/worker-host/brokers/kv";
import { nodeDatabase, type NodeDatabase, nodeHost, nodeKv } from "@keyhole/worker-host/node";
import { afterAll } from "vitest";
import fetchUrl from "../../packages/worker-host/src/tools/fetch-url.ts";
import kvGet from "../../packages/worker-host/src/tools/kv-get.ts";
import kvPut from "../../packages/worker-host/src/tools/kv-put.ts";
import listDirectory from "../../packages/worker-host/src/tools/list-directory.ts";
import sqlQuery from "../../packages/worker-host/src/tools/sql-query.ts";
import webSearch from "../../packages/worker-host/src/tools/web-search.ts";
import { cataloguePackages, describeCatalogue } from "./catalogue.ts";

const root = mkdtempSync(join(tmpdir(), "keyhole-catalogue-"));
const databases = ["node", "inline"].map((name) => nodeDatabase(join(root, `${name}.db`))) as [
  NodeDatabase,
  NodeDatabase,
];
afterAll(() => {
  for (const each of databases) each.close();
  rmSync(root, { recursive: true });
});

describeCatalogue("node", cataloguePackages, async () => ({
  host: nodeHost({ trusted: cataloguePackages.map(({ hash }) => hash) }),
  values: nodeKv(join(root, "values")),
  database: databases[0],
}));

describeCatalogue("inline", [fetchUrl, kvGet, kvPut, listDirectory, sqlQuery, webSearch], async () => ({
  values: memoryKv(),
  database: databases[1],
}));
