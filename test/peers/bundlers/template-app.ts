import { spawn } from "node:child_process";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { packedApp } from "../../support/packed-app.ts";

export interface Ended {
  readonly code: number | null;
  /** Standard output and standard error. */
  readonly said: string;
}

/** What stands on a child's standard input, and its environment. */
export interface Around {
  readonly typed?: string | undefined;
  readonly env?: NodeJS.ProcessEnv;
}

export async function ended(
  folder: string,
  words: readonly string[],
  { typed = "", env }: Around = {},
): Promise<Ended> {
  const child = spawn(process.execPath, words, { cwd: folder, env });
  child.stdin.end(typed);
  const [out, error, code] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    new Promise<number | null>((resolve) => child.on("close", resolve)),
  ]);
  return { code, said: `${out}${error}` };
}

/** A project that `keyhole init` wrote, with the packages of the tarballs. */
export interface TemplateApp {
  readonly folder: string;
  /** A program of a package that is installed, such as `typescript/bin/tsc`. */
  program(path: string): string;
  keyhole(...words: readonly string[]): Promise<Ended>;
  run(...words: readonly string[]): Promise<Ended>;
}

/** @param packages that the template names besides those of the tarballs */
export async function templateApp(template: string, packages: readonly string[]): Promise<TemplateApp> {
  const parent = packedApp({}, packages);
  const folder = join(parent, "app");
  const program = (path: string): string => join(parent, "node_modules", path);
  const command = program("keyhole/dist/cli.js");
  const { code, said } = await ended(parent, [command, "init", template, "app"]);
  if (code !== 0) throw new Error(said);
  return {
    folder,
    program,
    keyhole: (...words) => ended(folder, [command, ...words]),
    run: (...words) => ended(folder, words),
  };
}
