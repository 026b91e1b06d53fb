// The audit log in the SQLite of a Durable Object, in workerd, beside memory in the same object: events a second that are appended, in batches as a
// kernel makes them and in others, and read back and verified.
import { copyFile, mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createBuilder } from "vite";
import { Keeper } from "../../packages/edge/src/dev/keeper.ts";
import { Runtime } from "../../packages/edge/src/dev/runtime.ts";
import { configuredWorker } from "../../packages/edge/src/dev/worker.ts";
import { loadWrangler } from "../../packages/edge/src/dev/wrangler.ts";
import type { Load } from "./audit/load.ts";
import { type Figures, logOf, report, timed } from "./audit/rows.ts";

const path = (relative: string): string => fileURLToPath(new URL(relative, import.meta.url));
const folder = await mkdtemp(join(tmpdir(), "keyhole-bench-"));
/** A folder of its own: what else lies beside a Worker is a part of it, and starts it anew when it changes. */
const outDir = join(folder, "worker");
const config = join(outDir, "wrangler.toml");
await mkdir(outDir);
await copyFile(path("audit/object/wrangler.toml"), config);
const builder = await createBuilder({
  configFile: path("../../vite.config.ts"),
  logLevel: "error",
  environments: {
    edge: {
      build: {
        outDir,
        sourcemap: false,
        rolldownOptions: { input: { worker: path("audit/object/worker.ts") } },
      },
    },
  },
});
await builder.build(builder.environments["edge"]!);
const wrangler = await loadWrangler();
const keeper = new Keeper();
const worker = new Runtime({
  name: "The Worker",
  worker: configuredWorker(wrangler, { config }),
  miniflare: wrangler.miniflare,
  keeper,
  port: 0,
  state: join(folder, "state"),
  registry: join(folder, "registry"),
  scratch: folder,
  onLost: (reason) => {
    throw new Error(reason);
  },
});
try {
  await worker.start();
  report({ memory: await measure("memory"), "SQLite of an object": await measure("SQLite") });
} finally {
  await worker.stop();
  await keeper.stop();
  await rm(folder, { recursive: true });
}

function measure(store: string): Promise<Figures> {
  return timed(async (row) => {
    const query = new URLSearchParams({ store, row, log: `${store} ${logOf(row)}` });
    const response = await fetch(`${worker.url}/?${query}`, { method: "POST" });
    if (!response.ok) throw new Error(await response.text());
    return (await response.json()) as Load;
  });
}
