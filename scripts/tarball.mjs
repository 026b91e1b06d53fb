/** The top level of every tarball. */
const topLevel = ["LICENSE", "README.md", "dist", "package.json"];

/**
 * The folders of a tarball, and the files that each may hold. `dist` has modules, declarations, modules of WebAssembly, and the
 * header for C; source maps would name sources that are not there. `dist/playground` is a page. `schemas` has JSON Schemas, which editors find by path. `templates` has the files of projects, whatever they are.
 *
 * @type {Readonly<Record<string, readonly string[]>>}
 */
const folders = {
  "dist/playground": [".html", ".js", ".css", ".svg", ".wasm", ".json"],
  dist: [".js", ".d.ts", ".wasm", ".h"],
  schemas: [".json"],
  templates: [""],
};

/** In this repository alone: the condition under which the packages are their sources. */
const sourceCondition = "keyhole-source";

/** @param {unknown} exported @returns {unknown} exports without the sources, which a tarball does not hold */
function withoutSources(exported) {
  if (typeof exported !== "object" || exported === null) return exported;
  const kept = Object.entries(exported).filter(([key]) => key !== sourceCondition);
  return Object.fromEntries(kept.map(([key, value]) => [key, withoutSources(value)]));
}

/**
 * @template {{ exports?: unknown }} Manifest
 * @param {Manifest} manifest the package.json of the repository
 * @returns {Manifest & { exports: unknown }} the one that is published
 */
export function published(manifest) {
  return { ...manifest, exports: withoutSources(manifest.exports) };
}

/** @param {unknown} exported @returns {string[]} every path that exports name */
function pathsOf(exported) {
  if (typeof exported === "string") return [exported];
  return typeof exported === "object" && exported !== null ? Object.values(exported).flatMap(pathsOf) : [];
}

/** @param {string} path with at most one `*` @param {readonly string[]} files */
function isThere(path, files) {
  const [before = "", after] = path.replace(/^\.\//, "").split("*");
  if (after === undefined) return files.includes(before);
  return files.some((file) => file.startsWith(before) && file.endsWith(after));
}

/**
 * @param {readonly string[]} files of a tarball, relative to its root
 * @param {{ exports?: unknown, bin?: unknown }} manifest
 * @returns {string[]} a line for each entry that is missing, does not belong there, or is exported and not there
 */
export function tarballFaults(files, { exports, bin }) {
  const entries = [...new Set(files.map((path) => path.split("/", 1)[0] ?? ""))].sort();
  const allowed = [...topLevel, ...Object.keys(folders)];
  const strange = files.flatMap((path) => {
    // The narrower folder stands first.
    const [, kinds = [""]] = Object.entries(folders).find(([folder]) => path.startsWith(`${folder}/`)) ?? [];
    return kinds.some((kind) => path.endsWith(kind)) ? [] : [`${path} is none of ${kinds.join(", ")}`];
  });
  const dangling = [...pathsOf(exports), ...pathsOf(bin)].filter((path) => !isThere(path, files));
  return [
    ...entries.filter((entry) => !allowed.includes(entry)).map((entry) => `${entry} does not belong there`),
    ...topLevel.filter((entry) => !entries.includes(entry)).map((entry) => `${entry} is missing`),
    ...strange,
    ...dangling.map((path) => `${path} is named in package.json and not there`),
  ];
}
