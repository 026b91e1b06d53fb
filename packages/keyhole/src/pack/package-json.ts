import { folderOf, joinPath, type PackFiles } from "./files.ts";

/** Of a package.json, what decides which file an import means. */
export interface PackageJson {
  readonly name?: string;
  readonly type?: string;
  readonly module?: string;
  readonly main?: string;
  readonly sideEffects?: boolean | readonly string[];
  readonly exports?: unknown;
  readonly imports?: unknown;
  readonly workspaces?: unknown;
}

const decoder = new TextDecoder();

/** Reads each package.json once. A file that is not a JSON object counts as empty. */
export class PackageJsons {
  readonly #files: PackFiles;
  readonly #read = new Map<string, PackageJson | undefined>();

  constructor(files: PackFiles) {
    this.#files = files;
  }

  /** Of the folder itself; `undefined` where it has none. */
  in(folder: string): PackageJson | undefined {
    const path = `${folder}/package.json`;
    if (!this.#read.has(path)) this.#read.set(path, parsed(this.#files.read(path)));
    return this.#read.get(path);
  }

  /** Of the nearest folder around a file that has one. */
  around(path: string): { readonly folder: string; readonly json: PackageJson } | undefined {
    for (let folder = folderOf(path); ; folder = folderOf(folder)) {
      const json = this.in(folder);
      if (json !== undefined) return { folder, json };
      if (folder === "") return undefined;
    }
  }

  /**
   * The folder of the package that a file belongs to: one in `node_modules`, or one whose package.json has a name. Without a name it marks the form of modules alone.
   *
   * @param path without links
   */
  packageOf(path: string): string | undefined {
    for (let folder = folderOf(path); folder !== ""; folder = folderOf(folder))
      if (this.in(folder)?.name !== undefined || /\/node_modules\/(?:@[^/]+\/)?[^/]+$/.test(folder)) return folder;
    return undefined;
  }

  /** The folder of an installed package as a file sees it, without links: the nearest `node_modules`. */
  installed(name: string, importer: string): { readonly folder: string; readonly json: PackageJson } | undefined {
    for (let at = folderOf(importer); ; at = folderOf(at)) {
      const folder = joinPath(at, `node_modules/${name}`);
      const json = this.in(folder);
      if (json !== undefined) return { folder: this.#files.realPath(folder), json };
      if (at === "") return undefined;
    }
  }
}

function parsed(bytes: Uint8Array | undefined): PackageJson | undefined {
  if (bytes === undefined) return undefined;
  try {
    const value: unknown = JSON.parse(decoder.decode(bytes));
    if (typeof value !== "object" || value === null || Array.isArray(value)) return {};
    const { name, type, module, main, sideEffects, exports, imports, workspaces } = value as Record<string, unknown>;
    return {
      ...(typeof name === "string" && { name }),
      ...(typeof type === "string" && { type }),
      ...(typeof module === "string" && { module }),
      ...(typeof main === "string" && { main }),
      ...(typeof sideEffects === "boolean" && { sideEffects }),
      ...(Array.isArray(sideEffects) && { sideEffects: sideEffects.map(String) }),
      ...(exports !== undefined && exports !== null && { exports }),
      ...(imports !== undefined && imports !== null && { imports }),
      ...(workspaces !== undefined && { workspaces }),
    };
  } catch {
    return {};
  }
}

/**
 * Whether importing a file for nothing may change something, as its package says it. A pattern without a slash is about file names.
 *
 * @param path relative to the package
 */
export function hasSideEffects({ sideEffects = true }: PackageJson, path: string): boolean {
  if (typeof sideEffects === "boolean") return sideEffects;
  return sideEffects.some((pattern) => matches(pattern, path));
}

function matches(pattern: string, path: string): boolean {
  const text = pattern
    .replace(/^\.?\//, "")
    .split(/(\*\*\/|\*\*|\*)/)
    .map((part) => globs.get(part) ?? part.replace(/[.+?^${}()|[\]\\]/g, "\\$&"));
  return new RegExp(pattern.includes("/") ? `^${text.join("")}$` : `^(?:.*/)?${text.join("")}$`).test(path);
}

const globs: ReadonlyMap<string, string> = new Map([
  ["**/", "(?:.*/)?"],
  ["**", ".*"],
  ["*", "[^/]*"],
]);
