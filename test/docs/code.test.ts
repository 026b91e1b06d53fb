import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { root } from "../support/sources.ts";
import { type Page, parsePage, readPages } from "./markdown.ts";

/** A block that is marked `ts complete` stands for a whole file. */
const complete = "ts complete";

const config = {
  extends: "../../../tsconfig.base.json",
  compilerOptions: {
    lib: ["ES2024", "DOM", "DOM.Iterable", "DOM.AsyncIterable"],
    types: ["@keyhole/worker-host/vite/client", "vite/client"],
    declaration: false,
    isolatedDeclarations: false,
    // Of our own code; the declarations of Vite's client are another's.
    skipLibCheck: true,
  },
};

/** Compiles every complete block against the sources of the packages. Gives the compiler's errors, each at its page and line. */
async function compile(pages: readonly Page[]): Promise<readonly string[]> {
  const cache = `${root}node_modules/.cache/`;
  mkdirSync(cache, { recursive: true });
  const folder = mkdtempSync(`${cache}keyhole-docs-`);
  try {
    const files = pages.flatMap((page) =>
      page.blocks.filter(({ info }) => info === complete).map((block) => ({ page, block })),
    );
    const names = files.map(({ block }, at) => {
      writeFileSync(`${folder}/${at}.ts`, `${block.text}\n`);
      return `${at}.ts`;
    });
    writeFileSync(`${folder}/tsconfig.json`, JSON.stringify({ ...config, files: names }));
    const output = await runCompiler(folder);
    return output.map((line) => {
      const [, name = "", at = "0", text = line] = /(\d+)\.ts\((\d+),\d+\): (.*)/.exec(line) ?? [];
      const file = files[Number(name)];
      return name === "" || file === undefined ? line : `${file.page.path}:${file.block.line + Number(at)}: ${text}`;
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function runCompiler(folder: string): Promise<readonly string[]> {
  try {
    await promisify(execFile)(process.execPath, [
      `${root}node_modules/typescript/bin/tsc`,
      "-p",
      folder,
      "--pretty",
      "false",
    ]);
    return [];
  } catch (error) {
    const { stdout = "", stderr = "" } = error as { stdout?: string; stderr?: string };
    return `${stdout}${stderr}`.split("\n").filter((line) => line !== "");
  }
}

describe("code in the documentation", () => {
  it("that is complete compiles", async () => {
    const pages = readPages();
    expect(pages.flatMap(({ blocks }) => blocks).filter(({ info }) => info === complete).length).toBeGreaterThan(3);
    expect(await compile(pages)).toEqual([]);
  });

  it("that has drifted is found, at its place", async () => {
    const text = [
      "# Page",
      "",
      "```ts complete",
      'import { createKernel } from "@keyhole/kernel";',
      "",
      "await createKernel({ polcy: {} });",
      "```",
    ];
    const [error = "", ...more] = await compile([parsePage("docs/page.md", text.join("\n"))]);
    expect(error).toMatch(/^docs\/page\.md:6: error TS2561: .*'polcy'/);
    expect(more).toEqual([]);
  });
});
