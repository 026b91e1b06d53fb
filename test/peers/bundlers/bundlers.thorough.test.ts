import { execFile } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import * as esbuild from "esbuild";
import type { Browser } from "playwright";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import webpack from "webpack";
import { launch } from "../../e2e/playground/visitor.ts";
import { packedApp, removePackedApps } from "../../support/packed-app.ts";
import { isolated, program, saidBy } from "./program.ts";

const run = promisify(execFile);

let app: string;
let browser: Browser;
beforeAll(async () => {
  app = packedApp(program);
  await run(process.execPath, ["pack.js"], { cwd: app });
  browser = await launch();
});
afterAll(async () => {
  await browser.close();
  removePackedApps();
});

/** Runs webpack as a program that has no configuration but its entry. */
async function runWebpack(entry: string, to: string): Promise<readonly string[]> {
  const compiler = webpack({ mode: "production", context: app, entry, output: { path: join(app, to) } });
  const stats = await promisify(compiler.run.bind(compiler))();
  await promisify(compiler.close.bind(compiler))();
  return (stats?.toJson({ errors: true }).errors ?? []).map(({ message }) => message);
}

async function runEsbuild(entries: readonly string[], to: string): Promise<readonly string[]> {
  const options = { bundle: true, format: "esm", target: "es2024", logLevel: "silent" } as const;
  try {
    await esbuild.build({ ...options, absWorkingDir: app, entryPoints: [...entries], outdir: join(app, to) });
    return [];
  } catch (error) {
    return (error as esbuild.BuildFailure).errors.map(({ text }) => text);
  }
}

describe("a kernel in a worker isolates the tool that is packed as JSON", () => {
  it("built by webpack", async () => {
    expect(await runWebpack("./page/main.js", "webpack")).toEqual([]);
    expect(await saidBy(browser, join(app, "webpack"))).toEqual(isolated);
  });

  it("built by esbuild", async () => {
    expect(await runEsbuild(["page/main.js", "page/kernel.js"], "esbuild")).toEqual([]);
    expect(await saidBy(browser, join(app, "esbuild"))).toEqual(isolated);
  });

  it("in Node", async () => {
    const { stdout } = await run(process.execPath, ["node/main.js"], { cwd: app });
    expect(JSON.parse(stdout)).toEqual(isolated);
  });
});

describe("an import of a tool without the plugin is refused, and its file is not evaluated", () => {
  it.each(["./direct/main.js", "./direct/page.js"])("by webpack, from %s", async (entry) => {
    expect(await runWebpack(entry, "refused-webpack")).toEqual([
      expect.stringMatching(/UnhandledSchemeError|Unhandled scheme/) as string,
    ]);
    expect(existsSync(join(app, "refused-webpack")) ? readdirSync(join(app, "refused-webpack")) : []).toEqual([]);
  });

  it("by esbuild", async () => {
    expect(await runEsbuild(["direct/main.js"], "refused-esbuild")).toEqual(['Could not resolve "keyhole:../evil.ts"']);
    expect(existsSync(join(app, "refused-esbuild"))).toBe(false);
  });

  it("by Node", async () => {
    await expect(run(process.execPath, ["direct/main.js"], { cwd: app })).rejects.toMatchObject({
      stdout: "",
      stderr: expect.stringContaining("ERR_UNSUPPORTED_ESM_URL_SCHEME") as string,
    });
  });
});
