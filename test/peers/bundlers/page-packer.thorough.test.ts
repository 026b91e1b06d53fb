import { globSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import * as esbuild from "esbuild";
import { afterAll, expect, it } from "vitest";
import { serve } from "../../e2e/playground/site.ts";
import { launch } from "../../e2e/playground/visitor.ts";
import { packedApp, removePackedApps } from "../../support/packed-app.ts";
import { root } from "../../support/sources.ts";
import { ended } from "./template-app.ts";

/* One source, one hash: the packer of the tarball in a page, on esbuild-wasm and a map of files, beside the command on Node. */

afterAll(removePackedApps);

const page = `import { mapFiles, Packer } from "keyhole/packer";
import { compileEngine } from "@keyhole/worker-host/wasm";
import * as esbuild from "esbuild-wasm";

const bytesOf = async (path) => new Uint8Array(await (await fetch(path)).arrayBuffer());
try {
  await esbuild.initialize({ wasmURL: "/esbuild.wasm", worker: false });
  const files = mapFiles(new Map(await (await fetch("/files.json")).json()));
  const packer = new Packer({ esbuild, files, engine: async () => compileEngine(await bytesOf("/quickjs.wasm")) });
  const hashes = {};
  for (const file of ["save-note.ts", "word-count.ts"])
    hashes[file] = (await packer.pack("/anywhere/tools/" + file)).package.hash;
  document.body.textContent = JSON.stringify(hashes);
} catch (error) {
  document.body.textContent = JSON.stringify({ error: String(error) });
}
`;

/** All that the packer may read, under a folder that is nowhere. */
async function filesOf(app: string): Promise<string> {
  const paths = globSync(
    ["tools/*.ts", "node_modules/@keyhole/kernel/package.json", "node_modules/@keyhole/kernel/dist/**/*.js"],
    { cwd: app },
  );
  const entries = paths.map(async (path) => [`/anywhere/${path}`, await readFile(join(app, path), "utf8")]);
  return JSON.stringify(await Promise.all(entries));
}

it("the packer gives in Chromium the hashes that the command gives on Node", { timeout: 240_000 }, async () => {
  const tools = ["save-note.ts", "word-count.ts"];
  const texts = tools.map(async (name) => [
    `tools/${name}`,
    await readFile(`${root}packages/keyhole/templates/any/tools/${name}`, "utf8"),
  ]);
  const app = packedApp({ ...Object.fromEntries(await Promise.all(texts)), "page.js": page });
  const { output } = await ended(app, ["node_modules/keyhole/dist/cli.js", "pack", "tools", "--json"]);
  const packed = (JSON.parse(output) as { tools: { file: string; hash: string }[] }).tools;
  const wasm = dirname(createRequire(import.meta.url).resolve("esbuild-wasm/package.json"));
  const built = await esbuild.build({
    absWorkingDir: app,
    entryPoints: ["page.js"],
    bundle: true,
    format: "esm",
    target: "es2024",
    write: false,
    alias: { "esbuild-wasm": join(wasm, "esm/browser.js") },
  });
  const served = new Map<string, readonly [type: string, content: string | Uint8Array]>([
    ["/", ["text/html", '<!doctype html><title>pack</title><body><script type="module" src="/page.js"></script>']],
    ["/page.js", ["text/javascript", built.outputFiles[0]!.contents]],
    ["/files.json", ["application/json", await filesOf(app)]],
    ["/esbuild.wasm", ["application/wasm", await readFile(join(wasm, "esbuild.wasm"))]],
    ["/quickjs.wasm", ["application/wasm", await readFile(`${root}node_modules/quickjs-wasi/quickjs.wasm`)]],
  ]);
  const site = await serve((request, response) => {
    const [type, content] = served.get(request.url ?? "") ?? ["text/plain", ""];
    response.writeHead(content === "" ? 404 : 200, { "content-type": type }).end(content);
  });
  const browser = await launch();
  const shown = await browser.newPage();
  shown.setDefaultTimeout(200_000);
  await shown.goto(site.origin);
  await shown.waitForFunction(() => document.body.textContent?.startsWith("{"));
  const hashes: unknown = JSON.parse((await shown.textContent("body")) ?? "");
  await browser.close();
  await site.close();
  expect(hashes).toEqual(Object.fromEntries(packed.map(({ file, hash }) => [file.replace("tools/", ""), hash])));
});
