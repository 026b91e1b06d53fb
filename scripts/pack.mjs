// Packs the public packages from their `dist` into the tarballs that are published, and refuses what they must not hold.
// `npm run build:packages` runs it after the build.
import { execFile } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { publicPackages, root } from "./project.mjs";
import { published, tarballFaults } from "./tarball.mjs";

const cache = join(root, "node_modules", ".keyhole");

/** Where the tarballs are: the folder of the root that git ignores. */
export const tarballs = join(root, "dist");

/** @param {string} name the package's folder */
function readManifest(name) {
  return JSON.parse(readFileSync(join(root, "packages", name, "package.json"), "utf8"));
}

/** @param {string} name the package's folder @returns {string} the path of its tarball */
export function tarballOf(name) {
  const { name: published, version } = readManifest(name);
  return join(tarballs, `${published.replace(/^@(.*)\//, "$1-")}-${version}.tgz`);
}

/**
 * Copies what a package publishes: npm packs a folder with the package.json that stands in it, and ours is that of the
 * repository.
 *
 * @param {string} name
 * @returns {string} the folder
 */
function stage(name) {
  const [from, to] = [join(root, "packages", name), join(cache, "packages", name)];
  rmSync(to, { recursive: true, force: true });
  mkdirSync(to, { recursive: true });
  const manifest = published(readManifest(name));
  for (const entry of ["LICENSE", "README.md", ...manifest.files])
    cpSync(join(from, entry), join(to, entry), { recursive: true });
  writeFileSync(join(to, "package.json"), `${JSON.stringify(manifest, null, 2)}\n`);
  return to;
}

/** @returns {Promise<string[]>} what is wrong with the tarballs, a line each */
export async function packAll() {
  rmSync(tarballs, { recursive: true, force: true });
  mkdirSync(tarballs, { recursive: true });
  const folders = publicPackages.map(stage);
  const args = ["pack", ...folders, "--json", "--loglevel=error", "--pack-destination", tarballs];
  const { stdout } = await promisify(execFile)("npm", args, { cwd: root });
  /** @type {{ name: string, files: { path: string }[] }[]} npm 12 gives an object, older ones an array */
  const packed = Object.values(JSON.parse(stdout));
  return packed.flatMap(({ name, files }) => {
    const manifest = published(readManifest(name.replace("@keyhole/", "")));
    const paths = files.map(({ path }) => path);
    return tarballFaults(paths, manifest).map((fault) => `${name}: ${fault}`);
  });
}

if (import.meta.main) {
  const faults = await packAll();
  console.log(faults.length > 0 ? faults.join("\n") : publicPackages.map(tarballOf).join("\n"));
  process.exitCode = faults.length > 0 ? 1 : 0;
}
