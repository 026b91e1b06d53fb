import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { JsonValue, PolicyDocument, ToolPackage } from "@keyhole/kernel";
import { build } from "esbuild";
import { keyhole } from "../../../esbuild.ts";
import { Unusable, visible } from "../../io.ts";

/** What the Worker of `dev --edge` is made of. */
export interface WorkerParts {
  readonly tools: readonly ToolPackage[];
  readonly policy: JsonValue | PolicyDocument;
}

/** One kernel for each tenant, with the bindings of the template `worker`. */
const wranglerText = `name = "keyhole-dev"
main = "worker/worker.js"
no_bundle = true
compatibility_date = "2026-10-01"
compatibility_flags = ["enable_request_signal", "request_signal_passthrough"]
worker_loaders = [{ binding = "LOADER" }]
durable_objects.bindings = [{ name = "KERNEL", class_name = "KernelObject" }]
migrations = [{ tag = "v1", new_sqlite_classes = ["KernelObject"] }]
r2_buckets = [{ binding = "FILES", bucket_name = "keyhole-files" }]
kv_namespaces = [{ binding = "VALUES", id = "keyhole-values" }]
`;

const entry = `import { gatewayWorker, kernelObject } from "@keyhole/edge";
import { policy, tools } from "./parts.json";
export class KernelObject extends kernelObject({ tools, policy }) {}
export default gatewayWorker;
`;

/** In the repository the packages are their sources. */
const conditions = import.meta.url.endsWith(".ts") ? ["keyhole-source"] : [];

/** @returns the path of wrangler's configuration */
export async function writeConfig(folder: string): Promise<string> {
  const path = join(folder, "wrangler.toml");
  await writeFile(path, wranglerText);
  return path;
}

/**
 * Bundles the Worker into `worker/worker.js` of a folder.
 *
 * @param project where `@keyhole/edge` is found
 * @throws {Unusable} with the bundler's reason
 */
export async function writeWorker(folder: string, project: string, parts: WorkerParts): Promise<void> {
  const { tools, policy } = parts;
  try {
    await build({
      stdin: { contents: entry, resolveDir: project, sourcefile: "keyhole-dev.ts", loader: "ts" },
      outfile: join(folder, "worker", "worker.js"),
      bundle: true,
      format: "esm",
      target: "es2024",
      platform: "neutral",
      mainFields: ["module", "main"],
      conditions: [...conditions, "workerd", "worker", "module", "browser", "import"],
      external: ["cloudflare:*"],
      tsconfigRaw: "{}",
      logLevel: "silent",
      plugins: [
        keyhole(),
        {
          name: "parts",
          setup({ onResolve, onLoad }) {
            onResolve({ filter: /^\.\/parts\.json$/ }, () => ({ path: "parts", namespace: "parts" }));
            onLoad({ filter: /.*/, namespace: "parts" }, () => ({
              contents: JSON.stringify({ tools, policy }),
              loader: "json",
            }));
          },
        },
      ],
    });
  } catch (error) {
    throw new Unusable(visible(`The Worker cannot be built: ${error instanceof Error ? error.message : ""}`), {
      cause: error,
    });
  }
}
