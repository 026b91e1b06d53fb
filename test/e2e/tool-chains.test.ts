import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { extname, join } from "node:path";
import { promisify } from "node:util";
import type { Browser } from "playwright";
import { build, createLogger } from "vite";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { config, program, removePrograms } from "../vite/program.ts";
import { serve } from "./playground/site.ts";
import { launch } from "./playground/visitor.ts";

/*
 * A hostile tool in programs that set up their tool chain as the docs say, or forget to. Where the tool is not packed, its file
 * must not be evaluated at all.
 */

afterAll(removePrograms);

const evil = `globalThis.evaluated = "yes";
export default {
  definition: {
    name: "evil", version: "1.0.0", description: "Looks where it runs.", input: { type: "object" }, output: { kind: "json" },
  },
  code: { execute: () => ({ realm: globalThis.realm ?? "an isolate", storage: typeof indexedDB }) },
};
`;

describe("a production build by Vite with the documented configuration", () => {
  const files = {
    "index.html":
      '<!doctype html><meta charset="utf-8"><title>app</title><script type="module" src="/main.ts"></script>',
    "evil.ts": evil,
    "main.ts": `import { connectKernel, serveFrameContainer } from "@keyhole/worker-host/browser";
const worker = new Worker(new URL("./kernel.ts", import.meta.url), { type: "module" });
serveFrameContainer(worker);
const call = connectKernel(worker).call("evil", {});
const outer = new Worker(new URL("./outer.ts", import.meta.url), { type: "module" });
const nested = new Promise((resolve) => { outer.onmessage = ({ data }) => resolve(data); });
const said = { result: await call, nested: await nested };
document.body.textContent = JSON.stringify({ data: said.result.data, nested: said.nested });
`,
    "kernel.ts": `import { createKernel } from "@keyhole/kernel";
import { browserHost, exposeKernel, remoteFrameContainer } from "@keyhole/worker-host/browser";
import evil from "keyhole:./evil.ts";
globalThis.realm = "the kernel's realm, evaluated: " + (globalThis.evaluated ?? "no");
async function boot() {
  const kernel = await createKernel({ host: await browserHost({ container: remoteFrameContainer() }), policy: { version: "1", posture: "permissive" } });
  const registered = kernel.register(evil);
  if (!registered.ok) throw new Error(registered.error.message);
  return kernel;
}
exposeKernel(boot());
`,
    "outer.ts": `const inner = new Worker(new URL("./inner.ts", import.meta.url), { type: "module" });
inner.onmessage = ({ data }) => postMessage(data);
`,
    "inner.ts": `import evil from "keyhole:./evil.ts";
postMessage({ evaluated: globalThis.evaluated ?? "no", code: typeof evil.code });
`,
  };
  const types: Readonly<Record<string, string>> = { ".js": "text/javascript", ".html": "text/html" };
  const lines: string[] = [];
  let folder: string;
  let browser: Browser;

  beforeAll(async () => {
    const root = program(files);
    folder = join(root, "dist");
    vi.stubEnv("NODE_ENV", "production");
    const customLogger = { ...createLogger("silent"), info: (line: string): void => void lines.push(line) };
    const { logLevel: _, ...documented } = config(root);
    await build({ ...documented, customLogger, build: { target: "es2024" } });
    vi.unstubAllEnvs();
    browser = await launch();
  });
  afterAll(() => browser.close());

  it("isolates the tool of a kernel in a worker, and evaluates it in no nested worker", async () => {
    const site = await serve((request, response) => {
      const { pathname } = new URL(request.url ?? "/", "http://localhost");
      const path = pathname === "/" ? "/index.html" : pathname;
      readFile(join(folder, path)).then(
        (content) =>
          response.writeHead(200, { "content-type": types[extname(path)] ?? "application/wasm" }).end(content),
        () => response.writeHead(404).end(),
      );
    });
    const page = await browser.newPage();
    page.setDefaultTimeout(120_000);
    await page.goto(site.origin);
    await page.waitForFunction(() => document.body.textContent?.startsWith("{"));
    expect(JSON.parse((await page.textContent("body")) ?? "")).toEqual({
      data: { realm: "an isolate", storage: "undefined" },
      nested: { evaluated: "no", code: "string" },
    });
    await page.close();
    await site.close();
  });

  it("prints the tool with its hash and its isolate, once", () => {
    const packed = lines.filter((line) => line.startsWith("keyhole: packed"));
    expect(packed).toEqual([
      expect.stringMatching(/^keyhole: packed evil@1\.0\.0 blake3:[0-9a-f]{64} for a JavaScript isolate$/),
    ]);
  });
});

describe("a tool chain without the plugin", () => {
  afterEach(() => vi.unstubAllEnvs());

  it("of Vite refuses the import, also in a worker and in a nested worker", async () => {
    for (const entry of ["tool.ts", "worker.ts", "outer.ts"]) {
      const root = program({
        "index.html": `<!doctype html><script type="module" src="/${entry}"></script>`,
        "evil.ts": evil,
        "tool.ts": 'import evil from "keyhole:./evil.ts"; postMessage(evil);',
        "worker.ts": 'new Worker(new URL("./tool.ts", import.meta.url), { type: "module" });',
        "outer.ts": 'new Worker(new URL("./worker.ts", import.meta.url), { type: "module" });',
      });
      const { plugins: _, ...bare } = config(root);
      await expect(build({ ...bare, worker: { format: "es" } }), entry).rejects.toThrow(/keyhole:\.\/evil\.ts/);
    }
  });

  it("of Node refuses the import, and the file is not evaluated", async () => {
    const root = program({
      "package.json": '{ "type": "module" }',
      "evil.ts": 'import { writeFileSync } from "node:fs"; writeFileSync(new URL("evaluated", import.meta.url), "");',
      "main.ts": 'import evil from "keyhole:./evil.ts"; console.log(evil);',
    });
    await expect(promisify(execFile)(process.execPath, [join(root, "main.ts")])).rejects.toMatchObject({
      stderr: expect.stringContaining("ERR_UNSUPPORTED_ESM_URL_SCHEME") as string,
    });
    expect(existsSync(join(root, "evaluated"))).toBe(false);
  });
});
