import { execFile } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { appendFile, readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { nodeResolve } from "@rollup/plugin-node-resolve";
import * as esbuild from "esbuild";
import type { Browser } from "playwright";
import { type Plugin, rollup, watch } from "rollup";
import * as vite from "vite";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import webpack from "webpack";
import { launch } from "../../e2e/playground/visitor.ts";
import { packedApp, removePackedApps } from "../../support/packed-app.ts";
import { isolated, pluginOf, program, saidBy } from "./program.ts";

/* The plugins of the tarball in the bundlers themselves: one hash in all, and a tool that is isolated in each production build. */

const run = promisify(execFile);

let app: string;
let hash: string;
let browser: Browser;
beforeAll(async () => {
  app = packedApp(program);
  await run(process.execPath, ["pack.js"], { cwd: app });
  const { stdout } = await run(
    process.execPath,
    ["node_modules/keyhole/dist/cli.js", "pack", "evil.ts", "-o", "by-command", "--json"],
    { cwd: app },
  );
  hash = (JSON.parse(stdout) as { tools: { hash: string }[] }).tools[0]!.hash;
  browser = await launch();
});
afterAll(async () => {
  await browser.close();
  removePackedApps();
});

async function byWebpack(to: string): Promise<void> {
  // As many programs have it: it would compile the tool into the program.
  const rules = [{ test: /\.ts$/, type: "asset/source" }];
  const plugins = [await pluginOf<webpack.WebpackPluginInstance>(app, "webpack")];
  const [output, module] = [{ path: join(app, to) }, { rules }];
  const compiler = webpack({ mode: "production", context: app, entry: "./plugged/main.js", output, module, plugins });
  const stats = await promisify(compiler.run.bind(compiler))();
  await promisify(compiler.close.bind(compiler))();
  expect(stats?.toJson({ errors: true }).errors).toEqual([]);
}

async function byEsbuild(to: string): Promise<void> {
  const plugins = [await pluginOf<esbuild.Plugin>(app, "esbuild")];
  const entryPoints = ["plugged/main.js", "plugged/kernel.js"];
  const options = { bundle: true, format: "esm", target: "es2024", minify: true, logLevel: "silent" } as const;
  await esbuild.build({ ...options, absWorkingDir: app, entryPoints, outdir: join(app, to), plugins });
}

async function byRollup(to: string): Promise<void> {
  // Last: the plugin asks to come first by itself.
  const plugins = [nodeResolve({ browser: true }), await pluginOf<Plugin>(app, "rollup")];
  for (const name of ["main", "kernel"]) {
    const bundle = await rollup({ input: join(app, `plugged/${name}.js`), plugins, onwarn: () => {} });
    await bundle.write({ file: join(app, to, `${name}.js`), format: "es", inlineDynamicImports: true });
    await bundle.close();
  }
}

/** As a program of its own: the bundler of this repository with the plugin of the tarball. */
async function byVite(to: string): Promise<void> {
  const path = createRequire(join(app, "package.json")).resolve("keyhole/vite");
  const { keyhole } = (await import(/* @vite-ignore */ pathToFileURL(path).href)) as { keyhole(): vite.Plugin };
  const output = { entryFileNames: "[name].js", codeSplitting: false } as const;
  await vite.build({
    root: app,
    configFile: false,
    logLevel: "silent",
    plugins: [keyhole()],
    worker: { format: "es", plugins: () => [keyhole()] },
    build: {
      target: "es2024",
      outDir: to,
      assetsDir: "",
      rolldownOptions: { input: join(app, "plugged/main.js"), output },
    },
  });
}

it("packTool gives the hash of the command", async () => {
  const path = createRequire(join(app, "package.json")).resolve("keyhole");
  const { packTool } = (await import(/* @vite-ignore */ pathToFileURL(path).href)) as typeof import("keyhole");
  expect((await packTool(join(app, "evil.ts"))).package.hash).toBe(hash);
});

describe.each([
  ["Vite", byVite],
  ["webpack", byWebpack],
  ["esbuild", byEsbuild],
  ["rollup", byRollup],
])("a production build of %s with its plugin", (name, build) => {
  it("holds the package with the hash of the command and of Vite, and runs it in an isolate", async () => {
    expect((JSON.parse(await readFile(join(app, "evil.json"), "utf8")) as { hash: string }).hash).toBe(hash);
    const to = `plugged-${name}`;
    await build(to);
    const texts = readdirSync(join(app, to)).map((file) => readFileSync(join(app, to, file), "utf8"));
    expect(texts.filter((text) => text.includes(hash))).toHaveLength(1);
    expect(await saidBy(browser, join(app, to))).toEqual(isolated);
  });
});

describe("a bundler that watches", () => {
  it("packs a changed tool again: webpack", async () => {
    const plugins = [await pluginOf<webpack.WebpackPluginInstance>(app, "webpack")];
    const output = { path: join(app, "watched-webpack") };
    const compiler = webpack({ mode: "production", context: app, entry: "./direct/main.js", output, plugins });
    const rounds: string[] = [];
    const changed = Promise.withResolvers<void>();
    const watching = compiler.watch({ poll: 50 }, (error) => {
      if (error) return changed.reject(error);
      rounds.push(readFileSync(join(app, "watched-webpack/main.js"), "utf8"));
      if (rounds.length === 1) void appendFile(join(app, "evil.ts"), "\nglobalThis.more = 1;\n");
      else changed.resolve();
    });
    await changed.promise;
    await new Promise<void>((resolve) => watching?.close(() => resolve()));
    expect(rounds[0]).toContain(hash);
    expect(rounds.at(-1)).toMatch(/blake3:[0-9a-f]{64}/);
    expect(rounds.at(-1)).not.toContain(hash);
  });

  it("packs a changed tool again: rollup", async () => {
    const plugins = [await pluginOf<Plugin>(app, "rollup")];
    const file = join(app, "watched-rollup/main.js");
    const watcher = watch({
      input: join(app, "direct/main.js"),
      plugins,
      output: { file },
      watch: { chokidar: { usePolling: true } },
    });
    const rounds: string[] = [];
    await new Promise<void>((resolve, reject) => {
      watcher.on("event", (event) => {
        if (event.code === "ERROR") reject(new Error(event.error.message));
        if (event.code !== "END") return;
        rounds.push(readFileSync(file, "utf8"));
        if (rounds.length === 1) void appendFile(join(app, "evil.ts"), "\nglobalThis.andMore = 2;\n");
        else resolve();
      });
    });
    await watcher.close();
    const [before, after] = rounds.map((text) => /blake3:[0-9a-f]{64}/.exec(text)?.[0]);
    expect(before).toBeDefined();
    expect(after).toBeDefined();
    expect(after).not.toBe(before);
  });
});
