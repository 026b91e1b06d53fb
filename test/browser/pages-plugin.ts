import { fileURLToPath } from "node:url";
import { build, type Plugin } from "vite";
import { keyhole } from "../../scripts/keyhole-plugin.mjs";

/** Scripts of pages and workers that tests open, by the name that they have in an address. */
const scripts: Readonly<Record<string, URL>> = {
  "boot.worker": new URL("./boot.worker.ts", import.meta.url),
  "kernel.worker": new URL("./kernel.worker.ts", import.meta.url),
  "net-page": new URL("./net-page.ts", import.meta.url),
  "policy-page": new URL("./policy-page.ts", import.meta.url),
  "start-page": new URL("./start-page.ts", import.meta.url),
};

/** Below it, `NAME.js` is a script with all that it imports. */
const base = "/test-pages/";

type Files = ReadonlyMap<string, string | Uint8Array>;

async function builtPages(conditions: readonly string[]): Promise<Files> {
  const built = await build({
    configFile: false,
    logLevel: "silent",
    base,
    plugins: [keyhole()],
    resolve: { conditions: [...conditions] },
    build: {
      write: false,
      target: "esnext",
      minify: false,
      modulePreload: false,
      rolldownOptions: {
        input: Object.fromEntries(Object.entries(scripts).map(([name, url]) => [name, fileURLToPath(url)])),
        output: { entryFileNames: "[name].js" },
      },
    },
  });
  if (!("output" in built)) throw new Error("The scripts of the test pages are not one build.");
  return new Map(
    built.output.map((file) => [`${base}${file.fileName}`, file.type === "chunk" ? file.code : file.source]),
  );
}

/**
 * Serves the scripts of test pages, each built to few files when a browser first asks. A page loads 400 modules otherwise: four
 * seconds of a processor in Firefox, for each page.
 */
export function testPages(): Plugin {
  let pages: Promise<Files> | undefined;
  return {
    name: "test-pages",
    configureServer({ config, middlewares }) {
      middlewares.use((request, response, next) => {
        const path = request.url?.replace(/\?.*$/, "") ?? "";
        if (!path.startsWith(base)) return next();
        const { searchParams } = new URL(request.url ?? "", "http://page");
        const policy = searchParams.get("policy");
        if (policy !== null) response.setHeader("content-security-policy-report-only", policy);
        if (path === `${base}report-only.html`) {
          response.writeHead(200, { "content-type": "text/html" });
          return response.end(`<!doctype html><script type="module" src="${searchParams.get("script")}"></script>`);
        }
        pages ??= builtPages(config.resolve.conditions);
        pages.then((files) => {
          const file = files.get(path);
          if (file === undefined) return response.writeHead(404).end();
          const type = path.endsWith(".wasm") ? "application/wasm" : "text/javascript";
          return response.writeHead(200, { "content-type": type, "cache-control": "max-age=31536000" }).end(file);
        }, next);
      });
    },
  };
}
