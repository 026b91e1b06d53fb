import { edgeHost, IsolateRegistry } from "@keyhole/edge";
import { d1Database } from "@keyhole/worker-host/brokers/db-d1";
import { workersKv } from "@keyhole/worker-host/brokers/kv-workers";
import { bindings } from "../edge/bindings.ts";
import { cataloguePackages, describeCatalogue } from "./catalogue.ts";

describeCatalogue("edge", cataloguePackages, async () => ({
  host: edgeHost({ loader: new IsolateRegistry(bindings.LOADER), preempts: false }),
  values: workersKv(bindings.VALUES),
  database: d1Database(bindings.DATABASE),
}));
