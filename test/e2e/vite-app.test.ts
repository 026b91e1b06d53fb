import { readFile } from "node:fs/promises";
import { extname, join } from "node:path";
import type { Browser, Page } from "playwright";
import { build, createServer, type InlineConfig } from "vite";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { config, program, removePrograms } from "../vite/program.ts";
import { serve, type Site } from "./playground/site.ts";
import { launch, newContext } from "./playground/visitor.ts";

/*
 * A program of somebody's own: a page, one tool, Vite with the plugin and nothing else. In its dev server, and as files that anything can serve.
 */

const files = {
  "index.html": '<!doctype html><meta charset="utf-8"><title>app</title><script type="module" src="/main.ts"></script>',
  "count-planets.ts": `import { defineTool } from "@keyhole/kernel/tool";
export default defineTool({
  name: "count_planets", version: "1.0.0", description: "Counts.", effects: ["db.read"], determinism: "external", tier: 1,
  capabilities: [{ kind: "db.read", databases: ["main"] }],
  input: { type: "object", properties: { more: { type: "integer" } }, required: ["more"], additionalProperties: false },
  output: { kind: "json" },
  async execute({ more }, { db }) {
    const { rows } = await db("main").query("WITH t (n) AS (VALUES (1), (2), (3)) SELECT count(*) FROM t");
    return Number(rows[0]?.[0]) + more;
  },
});`,
  "main.ts": `import { createKernel } from "@keyhole/kernel";
import { browserHost, domFrameContainer } from "@keyhole/worker-host/browser";
import { dbBroker } from "@keyhole/worker-host/brokers/db";
import { opfsDatabase } from "@keyhole/worker-host/brokers/db-opfs";
import countPlanets from "keyhole:./count-planets.ts";

async function ask() {
  const kernel = await createKernel({
    host: await browserHost({ container: domFrameContainer({ nonce: "n0nce" }) }),
    brokers: [dbBroker({ main: opfsDatabase({ name: "app" }) })],
    policy: { version: "1", posture: "standard", grants: [{ tool: "count_planets", capability: { kind: "db.read", databases: ["main"] } }] },
  });
  kernel.register(countPlanets);
  const result = await kernel.call(countPlanets, { more: 5 });
  return result.ok ? { data: result.data } : { error: result.error.message };
}
const said = await ask().catch((error) => ({ error: error.message }));
document.body.textContent = JSON.stringify({ ...said, crossOriginIsolated });
`,
};

const strict: Readonly<Record<string, string>> = {
  "default-src": "'none'",
  "script-src": "'self' 'nonce-n0nce' blob: 'wasm-unsafe-eval'",
  "worker-src": "'self' blob:",
  "connect-src": "'self'",
  "frame-src": "'none'",
  "base-uri": "'none'",
  "form-action": "'none'",
};
const types: Readonly<Record<string, string>> = {
  ".js": "text/javascript",
  ".wasm": "application/wasm",
  ".html": "text/html",
};

let browser: Browser;
let page: Page;
beforeAll(async () => {
  browser = await launch();
  page = await (await newContext(browser)).newPage();
});
afterAll(async () => {
  await browser.close();
  removePrograms();
});

/** What the page says when it is done. */
async function saidBy(address: string): Promise<unknown> {
  // A page of the same tab starts three times as fast. What ran there ends first, and lets go of its database.
  await page.goto("about:blank");
  await page.goto(address);
  await page.waitForFunction(() => document.body.textContent?.startsWith("{"));
  return JSON.parse((await page.textContent("body")) ?? "");
}

const answer = { data: 8, crossOriginIsolated: false };

describe("a page built by Vite and served as files", () => {
  let folder: string;
  let site: Site;
  /** Of the next answers. */
  let policies: { page: Readonly<Record<string, string>>; worker: Readonly<Record<string, string>> };
  const header = (policy: Readonly<Record<string, string>>): string =>
    Object.entries(policy)
      .map((each) => each.join(" "))
      .join("; ");

  beforeAll(async () => {
    const root = program(files);
    folder = join(root, "dist");
    vi.stubEnv("NODE_ENV", "production");
    await build({ ...config(root), build: { target: "es2024" } } satisfies InlineConfig);
    vi.unstubAllEnvs();
    site = await serve((request, response) => {
      const { pathname } = new URL(request.url ?? "/", "http://localhost");
      const path = pathname === "/" ? "/index.html" : pathname;
      const policy = header(path.includes("opfs-worker") ? policies.worker : policies.page);
      readFile(join(folder, path)).then(
        (content) =>
          response
            .writeHead(200, {
              "content-type": types[extname(path)] ?? "text/plain",
              "content-security-policy": policy,
            })
            .end(content),
        () => response.writeHead(404).end(),
      );
    });
  });
  afterAll(() => site.close());

  it("calls a tool, under a strict policy and without cross-origin isolation", async () => {
    policies = { page: strict, worker: strict };
    expect(await saidBy(site.origin)).toEqual(answer);
  });

  it.each<[string, Readonly<Record<string, string>>, Readonly<Record<string, string>>]>([
    ["script-src 'nonce-", { ...strict, "script-src": "'self' blob: 'wasm-unsafe-eval'" }, strict],
    ["script-src blob:", { ...strict, "script-src": "'self' 'nonce-n0nce' 'wasm-unsafe-eval'" }, strict],
    ["script-src 'wasm-unsafe-eval'", { ...strict, "script-src": "'self' 'nonce-n0nce' blob:" }, strict],
    ["worker-src blob:", { ...strict, "worker-src": "'self'" }, strict],
    ["worker-src 'self'", { ...strict, "worker-src": "blob:" }, strict],
    ["connect-src 'self'", strict, { ...strict, "connect-src": "'none'" }],
    ["script-src 'wasm-unsafe-eval'", strict, { ...strict, "script-src": "'self'" }],
  ])("says what its policy lacks: %s", async (directive, page, worker) => {
    policies = { page, worker };
    expect(await saidBy(site.origin)).toEqual({
      error: expect.stringContaining(directive) as string,
      crossOriginIsolated: false,
    });
  });
});

it("a page in Vite's dev server calls a tool", async () => {
  const root = program(files);
  // Here the packages lie outside of the program's folder; a program of its own has them in it.
  const fs = { strict: false };
  const server = await createServer({ ...config(root), server: { host: "127.0.0.1", port: 0, watch: null, fs } });
  try {
    await server.listen();
    const address = server.resolvedUrls?.local[0];
    expect(await saidBy(address ?? "")).toEqual(answer);
  } finally {
    await server.close();
  }
});
