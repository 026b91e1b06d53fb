import { createKernel, defaultModeTriggers, type Kernel } from "@keyhole/kernel";
import { recordingHost } from "@keyhole/kernel/replay";
import { browserHost, exposeKernel, remoteFrameContainer } from "@keyhole/worker-host/browser";
import { dbBroker } from "@keyhole/worker-host/brokers/db";
import { filesBroker } from "@keyhole/worker-host/brokers/files";
import { opfsStore } from "@keyhole/worker-host/brokers/files-opfs";
import { kvBroker } from "@keyhole/worker-host/brokers/kv";
import { indexedDbKv } from "@keyhole/worker-host/brokers/kv-indexeddb";
import { netBroker } from "@keyhole/worker-host/brokers/net";
import { type Endpoint, expose } from "comlink";
import { isPageSettings, type PageSettings } from "./client/search-settings.ts";
import { startPolicy } from "./kernel/default-policy.ts";
import { exampleDatabase } from "./kernel/example-database.ts";
import { exampleFiles } from "./kernel/example-files.ts";
import { pageTools } from "./kernel/page-tools.ts";
import { RecordedRuns } from "./kernel/recorded-runs.ts";

/** The page's types are a window's; this file runs in a dedicated worker. */
const page = self as unknown as Endpoint;

const runs = new RecordedRuns();

const told = new Promise<PageSettings>((resolve) =>
  addEventListener("message", function listen({ data, ports: [port] }: MessageEvent<unknown>) {
    if (!isPageSettings(data)) return;
    removeEventListener("message", listen);
    if (port) expose(runs, port);
    resolve(data);
  }),
);

/** The kernel lives here, apart from the page's work; the frames in which tools run are the page's. */
async function boot(): Promise<Kernel> {
  const host = recordingHost(await browserHost({ container: remoteFrameContainer(page) }), runs.write);
  const brokers = [
    netBroker(),
    filesBroker(exampleFiles(opfsStore())),
    kvBroker(indexedDbKv()),
    dbBroker({ main: exampleDatabase() }),
  ];
  const kernel = await createKernel({ host, brokers, policy: startPolicy, modeTriggers: defaultModeTriggers() });
  const { search } = (await told).settings;
  for (const tool of pageTools(search)) {
    const registered = kernel.register(tool);
    if (!registered.ok) throw new Error(`${tool.manifest.name}: ${registered.error.message}`);
  }
  return kernel;
}

exposeKernel(boot(), page);
