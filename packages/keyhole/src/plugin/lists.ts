// As a whole: an import of `globSync` alone fails on Node 20 before the package can say which Node it needs.
import fs from "node:fs";
import { dirname, join } from "node:path";
import { forward } from "../node/root.ts";

/** A resolved `keyhole:./*.ts?all`: the pattern, and the file that imports it. */
const listPattern = /^\0keyhole-all:(.*?):(.*):$/;

export function isList(id: string): boolean {
  return listPattern.test(id);
}

export function listId(pattern: string, importer: string): string {
  return `\0keyhole-all:${pattern}:${forward(importer)}:`;
}

interface List {
  readonly pattern: string;
  readonly importer: string;
  readonly folder: string;
}

function listOf(id: string): List {
  const [, pattern = "", importer = ""] = listPattern.exec(id) ?? [];
  return { pattern, importer, folder: dirname(importer) };
}

export function importerOf(id: string): string {
  return listOf(id).importer;
}

/** The files are imported by their own specifiers; the file that asks is not one of them. */
export function listText(id: string): string {
  const { pattern, importer, folder } = listOf(id);
  const files = fs
    .globSync(pattern, { cwd: folder })
    .map((file) => forward(join(folder, file)))
    .filter((file) => file !== importer)
    .sort();
  const imports = files.map((file, i) => `import p${i} from ${JSON.stringify(`keyhole:${file}`)};`);
  return [...imports, `export default [${files.map((_, i) => `p${i}`).join(", ")}];`].join("\n");
}

const wildcard = /[*?[\]{}()!+@\\]/;

/**
 * The folders whose entries decide the list: the first holds all others. Where the pattern begins in a folder that is not there, the nearest one around it, in which the way
 * to it appears.
 */
export function listFolders(id: string): readonly [string, ...string[]] {
  const { pattern, folder } = listOf(id);
  const parts = pattern.split("/");
  const at = parts.findIndex((each) => wildcard.test(each));
  const fixed = parts.slice(0, at === -1 ? parts.length - 1 : at);
  const base = forward(join(folder, ...fixed));
  if (!isFolder(base)) return [nearestFolder(base)];
  const reached = levels(parts.slice(fixed.length)).flatMap((level) => fs.globSync(level, { cwd: base }));
  const inner = reached.map((each) => forward(join(base, each))).filter((each) => each !== base && isFolder(each));
  return [base, ...new Set(inner.sort())];
}

/** A pattern for each level of folders: of `*\/src/*.ts` the patterns `*` and `*\/src`. */
function levels(parts: readonly string[]): readonly string[] {
  // A group can hold slashes: its parts are no patterns.
  if (!parts.every(isWhole)) return ["**"];
  return parts
    .map((_, i) => parts.slice(0, i + 1).join("/"))
    .filter((_, i) => i < parts.length - 1 || parts[i] === "**");
}

function isWhole(part: string): boolean {
  return part.split(/[{(]/).length === part.split(/[})]/).length;
}

function isFolder(path: string): boolean {
  return fs.statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

function nearestFolder(path: string): string {
  return isFolder(path) || dirname(path) === path ? path : nearestFolder(forward(dirname(path)));
}
