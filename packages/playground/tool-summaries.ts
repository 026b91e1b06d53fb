import { fileURLToPath } from "node:url";
import { createRunnableDevEnvironment, type Plugin, resolveConfig } from "vite";
import { keyhole } from "../../scripts/keyhole-plugin.mjs";

const path = fileURLToPath(new URL("../../scripts/tool-summaries.ts", import.meta.url));

/** What the page's kernel will list, so that the page shows tools and forms before the kernel has started. */
export function toolSummaries(): Plugin {
  return {
    name: "playground:tool-summaries",
    load: {
      filter: { id: /\/playground\/src\/kernel\/tool-summaries\.ts$/ },
      async handler() {
        const list = await summaries((file) => this.addWatchFile(file));
        const text = JSON.stringify(JSON.stringify(list));
        return { code: `export const toolSummaries = JSON.parse(${text});`, moduleType: "js" };
      },
    },
  };
}

/** Runs a kernel with the page's tools in this process, from the sources. */
async function summaries(watch: (file: string) => void): Promise<unknown> {
  const conditions = ["keyhole-source", "node", "import", "default"];
  const inline = { consumer: "server", dev: { moduleRunnerTransform: true }, resolve: { conditions } } as const;
  const resolved = await resolveConfig(
    { configFile: false, envDir: false, logLevel: "error", plugins: [keyhole()], environments: { inline } },
    "serve",
  );
  const environment = createRunnableDevEnvironment("inline", resolved, {
    runnerOptions: { hmr: { logger: false } },
    hot: false,
  });
  await environment.init();
  try {
    const module: unknown = await environment.runner.import(path);
    for (const { file } of environment.runner.evaluatedModules.idToModuleMap.values()) watch(file);
    if (!isSummaries(module)) throw new Error(`${path} has no summaries.`);
    return await module.summaries();
  } finally {
    await environment.close();
  }
}

interface Summaries {
  readonly summaries: () => Promise<unknown>;
}

/** The module is imported by its path, so that its type is not known. */
function isSummaries(module: unknown): module is Summaries {
  return (
    typeof module === "object" && module !== null && "summaries" in module && typeof module.summaries === "function"
  );
}
