import { cloudflareTest } from "@cloudflare/vitest-plugin";
import { playwright } from "@vitest/browser-playwright";
import { defineConfig } from "vitest/config";
import { chromiumArgs, findChromium } from "./scripts/chromium.mjs";
import { keyhole } from "./scripts/keyhole-plugin.mjs";
import { jsonSchemaSuite } from "./test/schema/suite-plugin.ts";

/** In the repository the packages are their sources; see `exports` in their package.json. */
const source = "keyhole-source";

const executablePath = findChromium();
const chromium = playwright({
  launchOptions: {
    args: chromiumArgs,
    // Far from UTC: an isolate that shows the machine's time zone fails.
    env: { ...process.env, TZ: "America/New_York" },
    ...(executablePath === undefined ? {} : { executablePath }),
  },
});

export default defineConfig({
  server: { host: "127.0.0.1" },
  test: {
    maxWorkers: 2,
    retry: 0,
    passWithNoTests: false,
    // workerd keeps a module cache of its own; the one in the file system would serve it stale modules.
    fsModuleCache: false,
    projects: [
      {
        plugins: [keyhole(), jsonSchemaSuite()],
        resolve: { conditions: [source, "module", "node", "development|production"] },
        ssr: { resolve: { conditions: [source, "module", "node", "development|production"] } },
        test: {
          name: "node",
          environment: "node",
          include: ["test/**/*.test.ts"],
          exclude: ["test/**/*.browser.test.ts", "test/**/*.workerd.test.ts"],
        },
      },
      {
        plugins: [keyhole(), jsonSchemaSuite()],
        resolve: { conditions: [source, "module", "browser", "development|production"] },
        server: { host: "127.0.0.1" },
        test: {
          name: "chromium",
          include: ["test/**/*.browser.test.ts"],
          globalSetup: "./test/hostile/browser-canary.ts",
          api: { host: "127.0.0.1" },
          browser: {
            enabled: true,
            headless: true,
            screenshotFailures: false,
            provider: chromium,
            instances: [{ browser: "chromium", name: "chromium" }],
          },
        },
      },
      {
        plugins: [
          keyhole(),
          jsonSchemaSuite(),
          cloudflareTest({ main: "./packages/edge/src/worker.ts", wrangler: { configPath: "./wrangler.toml" } }),
        ],
        resolve: { conditions: [source] },
        ssr: { resolve: { conditions: [source, "workerd", "worker", "module", "browser"] } },
        test: {
          name: "workerd",
          include: ["test/**/*.workerd.test.ts"],
        },
      },
    ],
  },
});
