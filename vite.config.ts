import { fileURLToPath } from "node:url";
import react from "@vitejs/plugin-react";
import { defineConfig, type EnvironmentOptions } from "vite";
import { contentSecurityPolicy } from "./packages/playground/content-security-policy.ts";
import { offline } from "./packages/playground/offline.ts";
import { oneFile } from "./packages/playground/one-file.ts";
import { toolSources } from "./packages/playground/tool-sources.ts";
import { toolSummaries } from "./packages/playground/tool-summaries.ts";
import { keyhole } from "./scripts/keyhole-plugin.mjs";

/** Browsers that have `light-dark()`: without it, a part that is dark in both themes would take the colours of the page. */
const cssTarget = ["chrome123", "firefox120", "safari17.5"];

const path = (relative: string): string => fileURLToPath(new URL(relative, import.meta.url));

/** In the repository the packages are their sources; see `exports` in their package.json. */
const sourceCondition = "keyhole-source";

/** One self-contained module for workerd, in packages/edge/build; `dist` is the published package. */
function workerdBundle(name: string): EnvironmentOptions {
  return {
    consumer: "server",
    resolve: {
      conditions: [sourceCondition, "workerd", "worker", "module", "browser", "production"],
      noExternal: true,
      builtins: [/^cloudflare:/],
    },
    build: {
      outDir: path("packages/edge/build"),
      emptyOutDir: false,
      copyPublicDir: false,
      target: "es2024",
      minify: false,
      sourcemap: true,
      rolldownOptions: {
        input: { [name]: path(`packages/edge/src/${name}.ts`) },
        platform: "browser",
        external: [/^cloudflare:/],
        output: { entryFileNames: "[name].js", codeSplitting: false },
      },
    },
  };
}

// `vite build --app` builds everything that `npm start` serves.
export default defineConfig({
  root: path("packages/playground"),
  plugins: [keyhole(), react(), contentSecurityPolicy(), offline(), oneFile("verify"), toolSummaries(), toolSources()],
  // The kernel's worker imports tools too, and a worker has plugins of its own.
  worker: { format: "es", plugins: () => [keyhole(), toolSources()] },
  server: { host: "127.0.0.1" },
  environments: {
    client: {
      resolve: { conditions: [sourceCondition, "module", "browser", "development|production"] },
      build: {
        outDir: path("packages/playground/dist"),
        emptyOutDir: true,
        target: "es2024",
        cssTarget,
        sourcemap: true,
        // What the page loads at first in any case: a chunk each would cost more than what is in it.
        rolldownOptions: {
          output: {
            codeSplitting: {
              groups: [{ name: "checks", test: /kernel\/src\/json\/(?:snapshot|canonical|known|is-plain)/ }],
            },
          },
        },
      },
    },
    verify: {
      consumer: "client",
      resolve: { conditions: [sourceCondition, "module", "browser", "production"] },
      build: {
        outDir: path("packages/playground/dist"),
        emptyOutDir: false,
        copyPublicDir: false,
        target: "es2024",
        cssTarget,
        rolldownOptions: { input: path("packages/playground/verify.html") },
      },
    },
    edge: workerdBundle("worker"),
    sandbox: workerdBundle("sandbox"),
  },
  builder: {
    async buildApp(builder) {
      for (const name of ["client", "verify", "edge", "sandbox"]) {
        const environment = builder.environments[name];
        if (environment !== undefined) await builder.build(environment);
      }
    },
  },
});
