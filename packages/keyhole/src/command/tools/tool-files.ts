import { opendir, readdir, stat } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { nearest } from "@keyhole/kernel";
import { Unusable, visible } from "../io.ts";

/** More are a folder of something else. */
const MAX_TOOLS = 1_000;

/** Files that a packer takes, and packages. */
const source = /(?<!\.d)\.(?:[mc]?[jt]s|wasm)$/;
const notTool = /^[._]|\.(?:test|spec|config)\./;

/**
 * The files of tools that a path names: the file, or the files of the folder itself, sorted. Folders in it hold what tools import. A name with a dot or an underscore in
 * front, and tests, are no tools.
 *
 * @param withPackages whether packages as JSON are tools here
 * @param typed as the person typed it, relative to `folder`
 * @throws {Unusable}
 */
export async function toolFiles(typed: string, folder: string, withPackages: boolean): Promise<readonly string[]> {
  const path = resolve(folder, typed);
  const found = await stat(path).catch(() => undefined);
  if (found === undefined) throw new Unusable(await missing(typed, path));
  if (!found.isDirectory()) return [path];
  const names: string[] = [];
  for await (const entry of await opendir(path)) {
    const isTool = source.test(entry.name) || (withPackages && entry.name.endsWith(".json"));
    if (!isTool || notTool.test(entry.name) || entry.isDirectory()) continue;
    names.push(entry.name);
    if (names.length > MAX_TOOLS)
      throw new Unusable(`${visible(typed)} holds more than ${MAX_TOOLS} files; expected a folder of tools.`);
  }
  // Of a module of WebAssembly the manifest stands beside it.
  const manifests = new Set(
    names.filter((name) => name.endsWith(".wasm")).map((name) => name.replace(/wasm$/, "json")),
  );
  return names
    .filter((name) => !manifests.has(name))
    .sort()
    .map((name) => join(path, name));
}

/** The folder in which a change of the tools of a path shows: of a file, the one around it. */
export function toolFolder(typed: string, folder: string): string {
  const path = resolve(folder, typed);
  return /\.[^./\\]+$/.test(path) ? dirname(path) : path;
}

/** Names the nearest path, from the first part of the path that is not there. */
async function missing(typed: string, path: string): Promise<string> {
  const names = await readdir(dirname(path)).catch(() => undefined);
  // A path without an end has no further folder around it.
  if (names === undefined && dirname(path) !== path) return missing(dirname(typed), dirname(path));
  const [close] = nearest(basename(path), names ?? []);
  const hint = close === undefined ? "" : ` Did you mean ${join(dirname(typed), close)}?`;
  return visible(`${typed} does not exist.${hint}`);
}
