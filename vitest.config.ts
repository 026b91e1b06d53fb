import { cloudflareTest } from "@cloudflare/vitest-plugin";
import { playwright } from "@vitest/browser-playwright";
import { defineConfig } from "vitest/config";
import { chromiumArgs, findChromium } from "./scripts/chromium.mjs";

/** In the repository the packages are their sources; see `exports` in their package.json. */
const conditions = ["keyhole-source"];

const executablePath = findChromium();
const chromium = playwright({
  launchOptions: { args: chromiumArgs, ...(executablePath === undefined ? {} : { executablePath }) },
});

export default defineConfig({
  server: { host: "127.0.0.1" },
  test: {
    maxWorkers: 2,
    // Both are promises of the tests: nothing is retried, and a file without tests is a failure.
    retry: 0,
    passWithNoTests: false,
    // workerd keeps its own module cache, and the file system one serves it stale modules.
    fsModuleCache: false,
    projects: [
      {
        resolve: { conditions: [...conditions, "module", "node", "import", "default"] },
        ssr: { resolve: { conditions } },
        test: {
          name: "node",
          environment: "node",
          include: ["test/**/*.test.ts"],
          exclude: ["test/**/*.browser.test.ts", "test/**/*.workerd.test.ts"],
        },
      },
      {
        resolve: { conditions },
        server: { host: "127.0.0.1" },
        test: {
          name: "chromium",
          include: ["test/**/*.browser.test.ts"],
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
        resolve: { conditions },
        ssr: { resolve: { conditions: [...conditions, "workerd", "worker", "module", "browser"] } },
        plugins: [cloudflareTest({ wrangler: { configPath: "./wrangler.toml" } })],
        test: {
          name: "workerd",
          include: ["test/**/*.workerd.test.ts"],
        },
      },
    ],
  },
});
