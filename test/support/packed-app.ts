import { execFileSync } from "node:child_process";
import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { stripTypeScriptTypes } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { root } from "./sources.ts";

/*
 * Programs outside of this repository, with the tarballs of `npm run build:packages`. They have the packages' own dependencies
 * and nothing else: what a package uses and does not name is not found.
 */

const folders: string[] = [];

function link(from: string, to: string): void {
  mkdirSync(dirname(to), { recursive: true });
  symlinkSync(from, to);
}

/** Unpacks the tarballs, and links what they name. */
function installPackages(modules: string): void {
  const tarballs = globSync("dist/*.tgz", { cwd: root });
  if (tarballs.length === 0) throw new Error("There are no tarballs: `npm run build:packages` writes them.");
  const dependencies = tarballs.flatMap((tarball) => {
    const [, scoped] = /keyhole-([a-z].*)-\d+\.\d+\.\d+\.tgz$/.exec(tarball) ?? [];
    const folder = join(modules, scoped === undefined ? "keyhole" : `@keyhole/${scoped}`);
    mkdirSync(folder, { recursive: true });
    execFileSync("tar", ["xzf", join(root, tarball), "-C", folder, "--strip-components=1"]);
    const manifest = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as Record<
      string,
      object | undefined
    >;
    return [...Object.keys(manifest["dependencies"] ?? {}), ...Object.keys(manifest["peerDependencies"] ?? {})];
  });
  for (const name of new Set(dependencies)) {
    if (!name.startsWith("@keyhole/")) link(join(root, "node_modules", name), join(modules, name));
  }
}

/**
 * @param files by path; `removePackedApps` removes them
 * @param packages of this repository that the program has too
 * @returns the program's folder
 */
export function packedApp(files: Readonly<Record<string, string>>, packages: readonly string[] = []): string {
  const app = mkdtempSync(join(tmpdir(), "keyhole-packed-"));
  folders.push(app);
  installPackages(join(app, "node_modules"));
  for (const name of packages) link(join(root, "node_modules", name), join(app, "node_modules", name));
  for (const [path, text] of Object.entries({ "package.json": '{ "type": "module" }', ...files })) {
    mkdirSync(dirname(join(app, path)), { recursive: true });
    writeFileSync(join(app, path), text);
  }
  return app;
}

export function removePackedApps(): void {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
}

/** A TypeScript file of this repository as JavaScript that every Node and every bundler takes. */
export function asJavaScript(path: string): string {
  const text = readFileSync(root + path, "utf8");
  return stripTypeScriptTypes(text).replaceAll(/from "(\.[^"]*)\.ts"/g, 'from "$1.js"');
}
