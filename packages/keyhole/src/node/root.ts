import { existsSync, realpathSync } from "node:fs";
import { resolve } from "node:path";
import { readBoundedFile } from "@keyhole/worker-host/node/policy-text";
import { baseOf, folderOf, isUnder, type PackFiles } from "../pack/files.ts";
import { PackageJsons } from "../pack/package-json.ts";

export function forward(path: string): string {
  return path.replaceAll("\\", "/");
}

/**
 * The files of this machine under a root. They are opened by their paths without links.
 *
 * @throws Error where there is no such folder
 */
export function filesUnder(root: string): PackFiles {
  const folder = forward(realpathSync(root)).replace(/\/$/, "");
  return {
    read(path) {
      const real = realPathOf(path);
      if (real === undefined) return undefined;
      if (!isUnder(folder, real)) {
        // The resolver looks for a package.json in each folder up to that of the machine.
        if (isUnder(folder, path)) throw outside(path, folder);
        return undefined;
      }
      return readFile(real);
    },
    realPath(path) {
      const real = realPathOf(path);
      if (real !== undefined && real !== folder && !isUnder(folder, real)) throw outside(path, folder);
      return real ?? path; // It is not there: reading it says so.
    },
  };
}

function readFile(path: string): Uint8Array | undefined {
  try {
    return readBoundedFile(path);
  } catch (error) {
    // The resolver passes an unreadable file.
    if (error instanceof Error && "code" in error) return undefined;
    throw error;
  }
}

function realPathOf(path: string): string | undefined {
  try {
    return forward(realpathSync(path));
  } catch {
    return undefined;
  }
}

function outside(path: string, root: string): Error {
  const name = isUnder(root, path) ? path.slice(root.length + 1) : baseOf(path);
  return new Error(
    `${name} is outside of the root of the packer. Pass a folder that holds it as root: with --root of the command, or as the option root of packTool and of a bundler's plugin`,
  );
}

/**
 * The root that holds where nobody passes one: the nearest workspace around a folder, else the nearest folder with a package.json, else the folder.
 *
 * @param folder of the person who packs, never of what is packed
 */
export function projectRoot(folder: string): string {
  const jsons = new PackageJsons({ read: readFile, realPath: forward });
  const all: string[] = [];
  for (let at = forward(realpathSync(folder)); at !== ""; at = folderOf(at)) all.push(at);
  return (
    all.find((at) => jsons.in(at)?.workspaces !== undefined || existsSync(`${at}/pnpm-workspace.yaml`)) ??
    all.find((at) => jsons.in(at) !== undefined) ??
    resolve(folder)
  );
}
