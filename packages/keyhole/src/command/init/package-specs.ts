import { readdir, readFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import manifest from "../../../package.json" with { type: "json" };
import { Unusable, visible } from "../io.ts";

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
  if (typed !== undefined) return specsIn(resolve(folder, typed), typed);
  const installed = await installedFrom();
  return new Map(names.map((name) => [name, installed.get(name) ?? manifest.version]));
}

async function specsIn(path: string, typed: string): Promise<ReadonlyMap<string, string>> {
  const files = await readdir(path).catch(() => {
    throw new Unusable(`${visible(typed)} is unreadable; expected a folder of tarballs.`);
  });
  return new Map(
    names.map((name) => {
      const file = `${name.replace(/^@(.*)\//, "$1-")}-${manifest.version}.tgz`;
      if (!files.includes(file)) throw new Unusable(`${visible(typed)} has no ${file}.`);
      return [name, `file:${join(path, file)}`];
    }),
  );
}

/** npm writes beside the packages where it got them from. */
async function installedFrom(): Promise<ReadonlyMap<string, string>> {
  const [modules] = /^.*[\\/]node_modules(?=[\\/])/.exec(fileURLToPath(import.meta.url)) ?? [];
  if (modules === undefined) return new Map();
  try {
    const lock = JSON.parse(await readFile(join(modules, ".package-lock.json"), "utf8")) as {
      readonly packages?: Readonly<Record<string, { readonly resolved?: string }>>;
    };
    return new Map(
      names.flatMap((name) => {
        const [, file] = /^file:(.*)$/.exec(lock.packages?.[`node_modules/${name}`]?.resolved ?? "") ?? [];
        return file === undefined ? [] : [[name, `file:${resolve(dirname(modules), file)}`] as const];
      }),
    );
  } catch {
    return new Map();
  }
}
