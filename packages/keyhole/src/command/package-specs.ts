import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import manifest from "../../package.json" with { type: "json" };
import { shellWord, Unusable, visible } from "./io.ts";

const names = [
  "@keyhole/kernel",
  "@keyhole/worker-host",
  "@keyhole/agents",
  "@keyhole/bus",
  "@keyhole/mcp",
  "@keyhole/edge",
  "keyhole",
];

/**
 * The specifiers with which a project gets the packages of this version. Where this command came from tarballs, those: a registry that lacks the packages, or has another of that name, is
 * never asked.
 *
 * @param typed a folder of tarballs
 * @throws {Unusable}
 */
export async function packageSpecs(typed: string | undefined, folder: string): Promise<ReadonlyMap<string, string>> {
  return typed === undefined ? installedSpecs() : specsIn(resolve(folder, typed), typed);
}

/** The line with which a person adds packages to this command: ours as {@link packageSpecs} names them. */
export async function installLine(missing: readonly string[], own?: string): Promise<string> {
  const specs = await installedSpecs(own);
  const words = missing.map((name) => {
    const spec = specs.get(name);
    if (spec === undefined) return name;
    return shellWord(spec.startsWith("file:") ? spec : [name, spec].join("@"));
  });
  return `npm install --save-dev ${words.join(" ")}`;
}

const tarballOf = (name: string): string => `${name.replace(/^@(.*)\//, "$1-")}-${manifest.version}.tgz`;

async function specsIn(path: string, typed: string): Promise<ReadonlyMap<string, string>> {
  const files = await readdir(path).catch(() => {
    throw new Unusable(`${visible(typed)} is unreadable; expected a folder of tarballs.`);
  });
  return new Map(
    names.map((name) => {
      const file = tarballOf(name);
      if (!files.includes(file)) throw new Unusable(`${visible(typed)} has no ${file}.`);
      return [name, `file:${join(path, file)}`];
    }),
  );
}

/** @param own a file of this package, from which its `node_modules` is found */
async function installedSpecs(own: string = fileURLToPath(import.meta.url)): Promise<ReadonlyMap<string, string>> {
  const paths = await tarballPaths(own);
  // The tarballs of one build lie in one folder.
  const folder = paths.has("keyhole") ? dirname(paths.get("keyhole")!) : undefined;
  return new Map(
    names.map((name) => {
      const beside = folder === undefined ? undefined : join(folder, tarballOf(name));
      const path = paths.get(name) ?? (beside !== undefined && existsSync(beside) ? beside : undefined);
      return [name, path === undefined ? manifest.version : `file:${path}`];
    }),
  );
}

/** npm writes beside the packages where it got them from. */
async function tarballPaths(own: string): Promise<ReadonlyMap<string, string>> {
  const [modules] = /^.*[\\/]node_modules(?=[\\/])/.exec(own) ?? [];
  if (modules === undefined) return new Map();
  try {
    const lock = JSON.parse(await readFile(join(modules, ".package-lock.json"), "utf8")) as {
      readonly packages?: Readonly<Record<string, { readonly resolved?: string }>>;
    };
    return new Map(
      names.flatMap((name) => {
        const [, file] = /^file:(.*)$/.exec(lock.packages?.[`node_modules/${name}`]?.resolved ?? "") ?? [];
        return file === undefined ? [] : [[name, resolve(dirname(modules), file)] as const];
      }),
    );
  } catch {
    return new Map();
  }
}
