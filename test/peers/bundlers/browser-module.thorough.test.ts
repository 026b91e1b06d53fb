import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { serve } from "../../e2e/playground/site.ts";
import { packedApp, removePackedApps } from "../../support/packed-app.ts";
import { engines } from "./engine-pages.ts";
import { isolated, program } from "./program.ts";
import { ended } from "./template-app.ts";

/* `keyhole/browser` of the tarball: a module for pages without a bundler, from a static server under a strict policy. */

afterAll(removePackedApps);

const map = '{"imports":{"keyhole":"/lib/keyhole.js"}}';
const digest = `'sha256-${createHash("sha256").update(map).digest("base64")}'`;

const main = `import { startKernel } from "keyhole";
import evil from "./packages/evil.json" with { type: "json" };
globalThis.secret = "of the page";
const policy = { version: "1", posture: "permissive" };
try {
  const kernel = await startKernel({ policy, tools: [evil], log: "memory" });
  const result = await kernel.call("evil", {});
  document.body.textContent = JSON.stringify(result.ok ? result.data : result.error);
} catch (error) {
  document.body.textContent = JSON.stringify({ name: error.name, reason: error.reason, message: error.message });
}
`;

type Says = (url: string) => Promise<unknown>;

async function filesOfLibrary(
  folder: string,
): Promise<(readonly [string, readonly [type: string, content: string]])[]> {
  return Promise.all(
    (await readdir(folder)).map(
      async (name) => [`/lib/${name}`, ["text/javascript", await readFile(join(folder, name), "utf8")]] as const,
    ),
  );
}

async function saidUnder(app: string, policy: string, main: string, says: Says): Promise<unknown> {
  const html = `<!doctype html><title>page</title><script type="importmap">${map}</script><script type="module" src="/main.js"></script>`;
  const files = new Map<string, readonly [type: string, content: string]>([
    ["/", ["text/html", html]],
    ["/main.js", ["text/javascript", main]],
    ...(await filesOfLibrary(join(app, "node_modules/keyhole/dist/page"))),
    ["/packages/evil.json", ["application/json", await readFile(join(app, "packages/evil.json"), "utf8")]],
  ]);
  const site = await serve((request, response) => {
    const [type, content] = files.get(request.url ?? "") ?? ["text/plain", ""];
    response
      .writeHead(content === "" ? 404 : 200, { "content-type": type, "content-security-policy": policy })
      .end(content);
  });
  try {
    return await says(site.origin);
  } finally {
    await site.close();
  }
}

it.each([...engines()])(
  "in %s a page with an import map starts a kernel from one folder, and isolates its tools",
  async (_, says) => {
    const app = packedApp(program);
    expect(await ended(app, ["node_modules/keyhole/dist/cli.js", "pack", "evil.ts", "-o", "packages"])).toMatchObject({
      code: 0,
    });
    const { output } = await ended(app, [
      "--input-type=module",
      "-e",
      'const { pagePolicy } = await import("@keyhole/worker-host/csp"); process.stdout.write(pagePolicy());',
    ]);
    const policy = output.replace("script-src 'self'", `script-src 'self' ${digest}`);
    expect(policy).not.toBe(output);
    expect(await saidUnder(app, policy, main, says)).toEqual(isolated);
    // A policy that stands in the way: the page is told which part.
    const strict = policy.replace("worker-src 'self'", "worker-src");
    expect(await saidUnder(app, strict, main, says)).toMatchObject({ name: "KernelUnavailable", reason: "not-loaded" });
    const wrong = main.replace('version: "1"', 'version: "2"');
    expect(await saidUnder(app, policy, wrong, says)).toMatchObject({
      reason: "boot-failed",
      message: expect.stringContaining("version") as string,
    });
  },
);
