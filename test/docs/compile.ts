import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { promisify } from "node:util";
import { root } from "../support/sources.ts";
import type { Page } from "./markdown.ts";

/** A block that is marked `ts complete` stands for a whole file. */
export const complete = "ts complete";

/** The same, for a file of a Worker. */
export const worker = "ts worker";

const platformOf = (mark: string) =>
  mark === worker
    ? { lib: ["ES2024", "ESNext.Disposable"], types: ["@cloudflare/workers-types", "keyhole/client"] }
    : {
        lib: ["ES2024", "DOM", "DOM.Iterable", "DOM.AsyncIterable"],
        types: ["keyhole/client", "vite/client", ...(mark === complete ? [] : ["node"])],
      };

const configOf = (mark: string) => ({
  extends: `${root}tsconfig.base.json`,
  compilerOptions: {
    ...platformOf(mark),
    declaration: false,
    isolatedDeclarations: false,
    // Of our own code; the declarations of Vite's client are another's.
    skipLibCheck: true,
  },
});

/**
 * Compiles the blocks with this mark against the sources of the packages. Gives the compiler's errors, each at its page and line.
 *
 * @param modules the folder of the packages that the blocks import, relative to the root
 */
export async function compile(
  pages: readonly Page[],
  mark: string = complete,
  modules = "node_modules",
): Promise<readonly string[]> {
  const cache = `${root}${modules}/.cache/`;
  mkdirSync(cache, { recursive: true });
  const folder = mkdtempSync(`${cache}keyhole-docs-`);
  try {
    const files = pages.flatMap((page) =>
      page.blocks.filter(({ info }) => info === mark).map((block) => ({ page, block })),
    );
    const names = files.map(({ block }, at) => {
      writeFileSync(`${folder}/${at}.ts`, `${block.text}\n`);
      return `${at}.ts`;
    });
    writeFileSync(`${folder}/tsconfig.json`, JSON.stringify({ ...configOf(mark), files: names }));
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
