import type { Plugin } from "vite";

/** What a run does not change. The pages of the test runner and those that a test writes are not among them. */
const modules = /^\/(?:packages|test|node_modules|@fs|@id|@vite)\//;

/**
 * Lets a browser keep each module for the whole run. Vite has it ask again for every module of every page, frame and worker,
 * and one kernel is some 400 modules. A browser starts with an empty cache in each run; a run that watches files keeps nothing.
 */
export function cachedModules(): Plugin {
  return {
    name: "cached-modules",
    configureServer({ config, middlewares }) {
      if (config.server.watch !== null) return;
      middlewares.use(({ url }, response, next) => {
        if (url !== undefined && modules.test(url)) {
          const setHeader = response.setHeader.bind(response);
          response.setHeader = (name, value) =>
            setHeader(name, name === "Cache-Control" ? "max-age=31536000, immutable" : value);
        }
        next();
      });
    },
  };
}
