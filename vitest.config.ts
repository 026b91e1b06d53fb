import { cloudflareTest } from "@cloudflare/vitest-plugin";
import { playwright } from "@vitest/browser-playwright";
import { defineConfig, type TestProjectInlineConfiguration } from "vitest/config";
import type { BrowserProviderOption } from "vitest/node";
import { chromiumArgs, findChromium } from "./scripts/chromium.mjs";
import { findFirefox, findWebkit } from "./scripts/engines.mjs";
import { keyhole } from "./scripts/keyhole-plugin.mjs";
import { testPages } from "./test/browser/pages-plugin.ts";
import { jsonSchemaSuite } from "./test/schema/suite-plugin.ts";
import { type Browser, browserFiles } from "./test/support/browser-files.ts";
import { cachedModules } from "./test/support/cached-modules.ts";
import { webkitgtk } from "./test/support/webkitgtk.ts";
import { bombsOnNode, suspendedOnNode, urlsOnNode } from "./test/wasm/node-counts-plugin.ts";

/** In the repository the packages are their sources; see `exports` in their package.json. */
const source = "keyhole-source";

/** Far from UTC: an isolate that shows the machine's time zone fails. */
const env = { ...process.env, TZ: "America/New_York" };

/** What `npm run chaos` asks for. */
const { KEYHOLE_CHAOS_ROUNDS } = process.env;
const chaosEnv = KEYHOLE_CHAOS_ROUNDS === undefined ? {} : { KEYHOLE_CHAOS_ROUNDS };

/** `npm run test:thorough` sets it: every size is the full one, and files named `*.thorough.*` run. */
const thorough = process.env["KEYHOLE_THOROUGH"] === "1";

/** Tests inside packages of peers, and files that only `npm run test:thorough` runs. */
const exclude = ["**/node_modules/**", ...(thorough ? [] : ["**/*.thorough.*"])];

/**
 * For every project: vitest does not hand down the settings of the root. The limits end a test that hangs, never one that
 * is slow: the time that a test takes on a busy machine says nothing.
 */
const common = {
  testTimeout: 240_000,
  hookTimeout: 240_000,
  expect: { poll: { timeout: 120_000 } },
  provide: { thorough, writesRealm: process.env["KEYHOLE_WRITE_REALM"] === "1" },
};

/**
 * What a test imports beside files. One for all projects, so that a run packs each tool and counts each program once, and not
 * once a project.
 */
const imports = [keyhole(), jsonSchemaSuite(), bombsOnNode(), suspendedOnNode(), urlsOnNode()];

/** Holds every event that any test makes a kernel write against the published schema. */
const everyEvent = ["./test/support/every-event.ts"];

const executablePath = findChromium();
const chromium = playwright({
  launchOptions: { args: chromiumArgs, env, ...(executablePath === undefined ? {} : { executablePath }) },
});

type BrowserInstance = NonNullable<
  NonNullable<NonNullable<TestProjectInlineConfiguration["test"]>["browser"]>["instances"]
>[number];

function inBrowser(browser: Browser, provider: BrowserProviderOption): BrowserInstance {
  return {
    browser,
    name: browser,
    provider,
    // WebKitGTK has no headless mode; it draws on a screen of its own.
    headless: browser !== "webkit",
    // All files of a browser in one page: it loads the kernel's 400 modules once, and not once a file. WebKitGTK stops no thread that
    // executes WebAssembly; there a page of its own ends with its file.
    isolate: browser === "webkit",
    include: browserFiles(browser, thorough),
  };
}

/** One for all browsers of this machine, so that a run resolves, transforms and builds each module once and not once a browser. */
function browserProject(): TestProjectInlineConfiguration {
  return {
    plugins: [cachedModules(), testPages(), ...imports],
    resolve: { conditions: [source, "module", "browser", "development|production"] },
    server: { host: "127.0.0.1" },
    test: {
      ...common,
      // Vite looks here for the packages that it has to bundle: one that it meets later reloads the page of a test.
      include: browserFiles("chromium", thorough),
      exclude,
      env: chaosEnv,
      globalSetup: "./test/hostile/canary.ts",
      setupFiles: everyEvent,
      api: { host: "127.0.0.1" },
      browser: {
        enabled: true,
        ui: false,
        connectTimeout: 240_000,
        screenshotFailures: false,
        provider: chromium,
        instances: [inBrowser("chromium", chromium), ...otherEngines()],
      },
    },
  };
}

/** Files of other projects, and those that only the thorough run has. */
const notOnNode = ["test/**/*.browser.test.ts", "test/**/*.workerd.test.ts", ...exclude];

/**
 * Node's files that have a process of their own: they start processes or threads, fill the memory, or change the process.
 * All other files share the threads of `node`, so that the kernel is loaded twice in a run and not once a file.
 */
const ownProcess = [
  "test/node/!(config-command|config-modules|dev-config|help|import-command|mcp-docs|policy-text|run-command|starts|testing).test.ts",
  "test/runner/**/*.test.ts",
  "test/e2e/**/*.thorough.test.ts",
  "test/e2e/{edge-neighbours,keeper,listening-ports,passkey,serve-*,tool-chains,vite-app,watchdog}.test.ts",
  "test/audit/file-{sink,sync}.test.ts",
  "test/brokers/spawn.test.ts",
  "test/operations/{machine,projects,repositories}.test.ts",
  "test/bus/nats*.test.ts",
  "test/contract/spawn-programs.test.ts",
  "test/hostile/{battery,chaos}*.test.ts",
  "test/peers/{bundlers,node-versions}/*.test.ts",
  "test/scripts/read-once.test.ts",
];

function nodeProject(
  name: string,
  test: NonNullable<TestProjectInlineConfiguration["test"]>,
): TestProjectInlineConfiguration {
  return {
    plugins: imports,
    // As Node does: modules that are for bundlers only (`module`) can import what it does not resolve.
    resolve: { conditions: [source, "node", "development|production"] },
    ssr: { resolve: { conditions: [source, "node", "development|production"] } },
    test: { ...common, name, environment: "node", setupFiles: everyEvent, ...test },
  };
}

/** The engines that this machine has beside Chromium. `scripts/test.mjs` names those that it lacks. */
function otherEngines(): BrowserInstance[] {
  const [firefox, webkit] = [findFirefox(), findWebkit()];
  const instances: BrowserInstance[] = [];
  if (firefox !== undefined) {
    const provider = playwright({ launchOptions: { channel: "moz-firefox", executablePath: firefox, env } });
    instances.push(inBrowser("firefox", provider));
  }
  if (webkit !== undefined) instances.push(inBrowser("webkit", webkitgtk(webkit, env)));
  return instances;
}

export default defineConfig({
  server: { host: "127.0.0.1" },
  test: {
    maxWorkers: 2,
    retry: 0,
    passWithNoTests: false,
    // workerd keeps a module cache of its own; the one in the file system would serve it stale modules.
    fsModuleCache: false,
    projects: [
      nodeProject("node", {
        include: ["test/**/*.test.ts"],
        exclude: [...notOnNode, ...ownProcess],
        pool: "threads",
        isolate: false,
        setupFiles: [...everyEvent, "./test/support/kept-globals.ts"],
        globalSetup: "./test/e2e/playground/built.ts",
      }),
      nodeProject("node-own", {
        globalSetup: ["./test/hostile/canary.ts", "./test/e2e/playground/built.ts"],
        include: ownProcess,
        exclude: notOnNode,
      }),
      browserProject(),
      {
        plugins: [
          ...imports,
          cloudflareTest({ main: "./packages/edge/src/worker.ts", wrangler: { configPath: "./wrangler.toml" } }),
        ],
        resolve: { conditions: [source] },
        ssr: { resolve: { conditions: [source, "workerd", "worker", "module", "browser"] } },
        test: {
          ...common,
          name: "workerd",
          // A file loads its modules through the runtime's fallback, one at a time: all files of a worker load the kernel once.
          isolate: false,
          globalSetup: "./test/hostile/canary.ts",
          setupFiles: everyEvent,
          include: ["test/**/*.workerd.test.ts"],
          exclude,
        },
      },
    ],
  },
});
