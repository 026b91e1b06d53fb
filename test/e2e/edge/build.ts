import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createBuilder } from "vite";

const root = fileURLToPath(new URL("../../../", import.meta.url));

/** Builds the kernel's Worker with the tools of the tests, with its `wrangler.toml`, into a folder of its own. */
export async function buildTestEdge(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "keyhole-e2e-"));
  const builder = await createBuilder({
    configFile: join(root, "vite.config.ts"),
    logLevel: "error",
    environments: {
      edge: {
        build: {
          outDir: folder,
          sourcemap: false,
          rolldownOptions: { input: { worker: join(root, "test/e2e/edge/worker.ts") } },
        },
      },
    },
  });
  await builder.build(builder.environments["edge"]!);
  const config = readFileSync(join(root, "wrangler.toml"), "utf8");
  writeFileSync(join(folder, "wrangler.toml"), config.replace("packages/edge/build/worker.js", "worker.js"));
  return folder;
}
