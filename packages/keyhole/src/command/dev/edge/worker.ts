import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { JsonValue, PolicyDocument, ToolPackage } from "@keyhole/kernel";
import { build } from "esbuild";
import { keyhole } from "../../../esbuild.ts";
import { Unusable, visible } from "../../io.ts";

/** The parts that the Worker of `dev --edge` reads when it starts. */
export interface WorkerParts {
  readonly tools: readonly ToolPackage[];
  readonly policy: JsonValue | PolicyDocument;
}

/** The parts that stay while a person works. */
export interface WorkerKind {
  /** Whether the edge serves the built-in tools too. */
  readonly hasBuiltIn: boolean;
  /** Whether the edge serves MCP clients, at `/mcp`. */
  readonly hasMcp: boolean;
}

/** One kernel for each tenant, with the bindings of the template `worker`, and a database. */
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
d1_databases = [{ binding = "DATABASE", database_name = "keyhole", database_id = "keyhole-database" }]
`;

/** The Worker's module. The own tools come first: a built-in one of the same name stays away. */
function entryOf({ hasBuiltIn, hasMcp }: WorkerKind): string {
  return `import { gatewayWorker, kernelObject } from "@keyhole/edge";
${hasMcp ? 'import { edgeMcp } from "@keyhole/edge/mcp";' : ""}
import { d1Database } from "@keyhole/worker-host/brokers/db-d1";
${hasBuiltIn ? 'import { builtinTools } from "@keyhole/worker-host/tools";' : ""}
import parts from "./parts.txt";
const { policy, tools } = JSON.parse(parts);
const own = new Set(tools.map(({ manifest }) => manifest.name));
const others = ${hasBuiltIn ? "builtinTools.filter(({ manifest }) => !own.has(manifest.name))" : "[]"};
const databases = ({ DATABASE }, tenant) => (tenant === "default" ? { main: d1Database(DATABASE) } : {});
const options = { tools: [...tools, ...others], policy, databases${hasMcp ? ", mcp: edgeMcp()" : ""} };
export class KernelObject extends kernelObject(options) {}
export default gatewayWorker;
`;
}

/** In the repository the packages are their sources. */
const conditions = import.meta.url.endsWith(".ts") ? ["keyhole-source"] : [];

/** @returns the path of wrangler's configuration */
export async function writeConfig(folder: string): Promise<string> {
  const path = join(folder, "wrangler.toml");
  await writeFile(path, wranglerText);
  return path;
}

/** Writes the parts beside the Worker: for a changed tool nothing is bundled again. @param text of {@link WorkerParts} as JSON */
export async function writeParts(folder: string, text: string): Promise<void> {
  await writeFile(join(folder, "worker", "parts.txt"), text);
}

/**
 * Bundles the Worker into `worker/worker.js` of a folder.
 *
 * @param project where `@keyhole/edge` is found
 * @throws {Unusable} with the bundler's reason
 */
export async function writeWorker(folder: string, project: string, kind: WorkerKind): Promise<void> {
  try {
    await build({
      stdin: { contents: entryOf(kind), resolveDir: project, sourcefile: "keyhole-dev.ts", loader: "ts" },
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
          setup({ onResolve }) {
            onResolve({ filter: /^\.\/parts\.txt$/ }, ({ path }) => ({ path, external: true }));
          },
        },
      ],
    });
  } catch (error) {
    throw new Unusable(visible(`The command cannot build the Worker: ${error instanceof Error ? error.message : ""}`), {
      cause: error,
    });
  }
}
