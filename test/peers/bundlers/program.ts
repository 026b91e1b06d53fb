import { readFile, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { extname, join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Browser } from "playwright";
import { serve } from "../../e2e/playground/site.ts";

/** A plugin as the program in a folder has it: from its own node_modules. */
export async function pluginOf<Made>(app: string, bundler: string): Promise<Made> {
  const path = createRequire(join(app, "package.json")).resolve(`keyhole/${bundler}`);
  const module = (await import(/* @vite-ignore */ pathToFileURL(path).href)) as { keyhole(): Made };
  return module.keyhole();
}

/** Nothing of the kernel's realm, and no new code. */
export const isolated: object = {
  globals: [],
  self: [],
  constructor: "refused",
  evaluated: "refused",
  prototype: "refused",
  imported: "refused",
};

/** What the page says that is served from a folder with `main.js`. */
export async function saidBy(browser: Browser, folder: string): Promise<unknown> {
  const html = '<!doctype html><meta charset="utf-8"><title>app</title><script type="module" src="/main.js"></script>';
  await writeFile(join(folder, "index.html"), html);
  const types: Readonly<Record<string, string>> = { ".js": "text/javascript", ".html": "text/html" };
  const site = await serve((request, response) => {
    const { pathname } = new URL(request.url ?? "/", "http://localhost");
    const path = pathname === "/" ? "/index.html" : pathname;
    readFile(join(folder, path)).then(
      (content) => response.writeHead(200, { "content-type": types[extname(path)] ?? "application/wasm" }).end(content),
      () => response.writeHead(404).end(),
    );
  });
  const page = await browser.newPage();
  page.setDefaultTimeout(120_000);
  await page.goto(site.origin);
  await page.waitForFunction(() => document.body.textContent?.startsWith("{"));
  const said: unknown = JSON.parse((await page.textContent("body")) ?? "");
  await page.close();
  await site.close();
  return said;
}

/** Looks for whatever belongs to the realm of the kernel, by each way that a tool might try. */
const evil = `globalThis.evaluated = "yes";
const names = [
  "secret", "evaluated", "indexedDB", "caches", "localStorage", "document", "parent", "opener", "importScripts", "fetch",
  "XMLHttpRequest", "WebSocket", "BroadcastChannel", "process", "require", "module", "Buffer", "chrome",
];
const attempts = {
  globals: () => names.filter((name) => name !== "evaluated" && typeof globalThis[name] !== "undefined"),
  self: () => names.filter((name) => typeof self !== "undefined" && name !== "evaluated" && typeof self[name] !== "undefined"),
  constructor: () => (() => {}).constructor("return globalThis.secret")(),
  evaluated: () => (0, eval)("globalThis.secret"),
  prototype: () => ({}).constructor.constructor("return this")().secret,
  // In two parts: the packer refuses the word in one.
  imported: () => (() => {}).constructor(["return imp", "ort('node:fs')"].join(""))(),
};
async function tried(attempt) {
  try {
    return (await attempt()) ?? null;
  } catch {
    return "refused";
  }
}
export default {
  definition: {
    name: "evil", version: "1.0.0", description: "Looks where it runs.", input: { type: "object" }, output: { kind: "json" },
  },
  code: {
    async execute() {
      const seen = {};
      for (const [name, attempt] of Object.entries(attempts)) seen[name] = await tried(attempt);
      return seen;
    },
  },
};
`;

/** Packs evil.ts with the plugin of the tarball, in a step of its own, as a tool chain without the plugin needs it. */
const pack = `import { readdirSync, writeFileSync } from "node:fs";
import { build } from "vite";
import { keyhole } from "keyhole/vite";
const lib = { entry: "evil-entry.js", formats: ["es"] };
await build({ configFile: false, logLevel: "silent", plugins: [keyhole()], build: { lib, outDir: "packed" } });
const [name] = readdirSync("packed").filter((each) => each.endsWith(".js"));
const { default: evil } = await import("./packed/" + name);
writeFileSync("evil.json", JSON.stringify(evil));
`;

const register = `globalThis.secret = "of the kernel";
async function boot(host) {
  const kernel = await createKernel({ host, policy: { version: "1", posture: "permissive" } });
  const registered = kernel.register(evil);
  if (!registered.ok) throw new Error(registered.error.message);
  return kernel;
}
`;

/** A program with its kernel in a worker, for browsers and for Node. */
export const program: Readonly<Record<string, string>> = {
  "evil.ts": evil,
  "evil-entry.js": 'export { default } from "keyhole:./evil.ts";\n',
  "pack.js": pack,
  "page/main.js": `import { connectKernel, serveFrameContainer } from "@keyhole/worker-host/browser";
const worker = new Worker(new URL("./kernel.js", import.meta.url), { type: "module" });
serveFrameContainer(worker);
const result = await connectKernel(worker).call("evil", {});
document.body.textContent = JSON.stringify(result.ok ? result.data : result.error);
`,
  "page/kernel.js": `import { createKernel } from "@keyhole/kernel";
import { browserHost, exposeKernel, remoteFrameContainer } from "@keyhole/worker-host/browser";
import evil from "../evil.json";
${register}exposeKernel(browserHost({ container: remoteFrameContainer() }).then(boot));
`,
  "node/main.js": `import { Worker } from "node:worker_threads";
const worker = new Worker(new URL("./kernel.js", import.meta.url));
worker.on("message", (said) => process.stdout.write(JSON.stringify(said), () => process.exit()));
`,
  "node/kernel.js": `import { parentPort } from "node:worker_threads";
import { createKernel } from "@keyhole/kernel";
import { nodeHost } from "@keyhole/worker-host/node";
import evil from "../evil.json" with { type: "json" };
${register}const kernel = await boot(nodeHost());
const result = await kernel.call("evil", {});
parentPort.postMessage(result.ok ? result.data : result.error);
`,
  // With the plugin of the bundler, which packs the tool itself.
  "plugged/main.js": `import { connectKernel, serveFrameContainer } from "@keyhole/worker-host/browser";
const worker = new Worker(new URL("./kernel.js", import.meta.url), { type: "module" });
serveFrameContainer(worker);
const result = await connectKernel(worker).call("evil", {});
document.body.textContent = JSON.stringify(result.ok ? result.data : result.error);
`,
  "plugged/kernel.js": `import { createKernel } from "@keyhole/kernel";
import { browserHost, exposeKernel, remoteFrameContainer } from "@keyhole/worker-host/browser";
import evil from "keyhole:../evil.ts";
${register}exposeKernel(browserHost({ container: remoteFrameContainer() }).then(boot));
`,
  // What a program that forgets the plugin says.
  "direct/main.js": 'import evil from "keyhole:../evil.ts"; console.log(evil);\n',
  "direct/page.js": 'new Worker(new URL("./main.js", import.meta.url), { type: "module" });\n',
};
