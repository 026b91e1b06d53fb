import { spawn } from "node:child_process";
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { type LocalRegistry, localRegistry } from "../../support/local-registry.ts";

export interface Ended {
  readonly code: number | null;
  /** Standard output alone: what a program reads. */
  readonly output: string;
  /** Standard output, then standard error: what a person reads. */
  readonly said: string;
}

/** What stands on a child's standard input, and its environment. */
export interface Around {
  readonly typed?: string | undefined;
  readonly env?: NodeJS.ProcessEnv | undefined;
}

export function ended(folder: string, words: readonly string[], around: Around = {}): Promise<Ended> {
  return endedOf(process.execPath, folder, words, around);
}

async function endedOf(
  command: string,
  folder: string,
  words: readonly string[],
  { typed = "", env }: Around = {},
): Promise<Ended> {
  const child = spawn(command, words, { cwd: folder, env });
  if (typed === "") child.stdin.end();
  // What is typed before its question was shown does not count.
  else child.stderr.on("data", (shown: Buffer) => void (shown.includes("Type") && child.stdin.end(typed)));
  const [out, error, code] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    new Promise<number | null>((resolve) => child.on("close", resolve)),
  ]);
  return { code, output: out, said: `${out}${error}` };
}

/** A project that `keyhole init` wrote, with its packages from a registry that has our tarballs. */
export interface TemplateApp {
  readonly folder: string;
  /** A program of a package that is installed, such as `typescript/bin/tsc`. */
  program(path: string): string;
  keyhole(words: readonly string[], env?: NodeJS.ProcessEnv): Promise<Ended>;
  run(...words: readonly string[]): Promise<Ended>;
  /** Says how long the machine took, and for what. */
  report(): void;
}

const folders: string[] = [];
let registry: Promise<LocalRegistry> | undefined;

/** As the README says it: install the command, write the project, install what it names. @throws {Error} with what a step said */
export async function templateApp(template: string): Promise<TemplateApp> {
  const startedAtMs = performance.now();
  const parent = mkdtempSync(join(tmpdir(), "keyhole-newcomer-"));
  folders.push(parent);
  const { origin } = await (registry ??= localRegistry());
  writeFileSync(join(parent, "package.json"), '{ "private": true }');
  writeFileSync(join(parent, ".npmrc"), `registry=${origin}\naudit=false\nfund=false\n`);
  const install = async (folder: string, ...names: readonly string[]): Promise<void> => {
    const { code, said } = await endedOf("npm", folder, ["install", "--loglevel=error", ...names]);
    if (code !== 0) throw new Error(said);
  };
  await install(parent, "keyhole");
  const written = await endedOf("npx", parent, ["--no-install", "keyhole", "init", template, "app"]);
  if (written.code !== 0) throw new Error(written.said);
  const folder = join(parent, "app");
  copyFileSync(join(parent, ".npmrc"), join(folder, ".npmrc"));
  await install(folder);
  const installedAtMs = performance.now();
  const program = (path: string): string => join(folder, "node_modules", path);
  return {
    folder,
    program,
    keyhole: (words, env) => ended(folder, [program("keyhole/dist/cli.js"), ...words], { env }),
    run: (...words) => ended(folder, words),
    report() {
      const seconds = (fromMs: number, toMs: number): string => ((toMs - fromMs) / 1_000).toFixed(0);
      const nowMs = performance.now();
      const parts = `${seconds(startedAtMs, installedAtMs)} s to install, ${seconds(installedAtMs, nowMs)} s from there`;
      process.stdout.write(`${template}: ${seconds(startedAtMs, nowMs)} s of the machine: ${parts}\n`);
    },
  };
}

export async function removeTemplateApps(): Promise<void> {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
  await (await registry)?.close();
  registry = undefined;
}
