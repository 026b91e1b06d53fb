import { existsSync } from "node:fs";
import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { basename, dirname, relative, resolve } from "node:path";
import { normalizePath } from "vite";

const heading = "// Written by the keyhole plugin: the types of the tools that this program imports.\n";

const others = `declare module "keyhole:*?all" {
  const packages: readonly import("@keyhole/kernel").ToolPackage[];
  export default packages;
}
declare module "keyhole:*?iife" {
  const text: string;
  export default text;
}
declare module "keyhole:*?esm" {
  const text: string;
  export default text;
}
declare module "keyhole:*?bytes" {
  const bytes: Uint8Array<ArrayBuffer>;
  export default bytes;
}
declare module "keyhole:*?metered" {
  // WebAssembly.Module, where the types of the program know it.
  const module: typeof globalThis extends { WebAssembly: { Module: { prototype: infer Module } } } ? Module : never;
  export default module;
}
declare module "keyhole:*?metered-url" {
  const url: string;
  export default url;
}
// Of patterns with the same beginning the first wins: this one is the last.
declare module "keyhole:*" {
  const pkg: import("@keyhole/kernel").ToolPackage;
  export default pkg;
}
`;

/**
 * A `.d.ts` file with one module pattern per tool. It keeps the tools that it already names, as long as their files exist, so that two
 * environments of one build, or two programs that share it, do not erase each other's.
 */
export class Declarations {
  readonly #path: string;
  readonly #files = new Set<string>();
  #writing: Promise<void> = Promise.resolve();

  constructor(path: string) {
    this.#path = path;
  }

  /** Resolves when the file on disk names the tool. */
  add(file: string): Promise<void> {
    if (!this.#files.has(file)) {
      this.#files.add(file);
      this.#writing = this.#writing.then(() => this.#write());
    }
    return this.#writing;
  }

  async #write(): Promise<void> {
    const folder = dirname(this.#path);
    const before = await readFile(this.#path, "utf8").catch(() => "");
    for (const [, specifier] of before.matchAll(/typeof import\("([^"]+)"\)/g)) {
      const file = resolve(folder, specifier!);
      if (existsSync(file)) this.#files.add(file);
    }
    const after = declarationsOf([...this.#files], folder);
    if (after === before) return;
    await mkdir(folder, { recursive: true });
    const draft = `${this.#path}.${process.pid}.tmp`;
    await writeFile(draft, after);
    await rename(draft, this.#path);
  }
}

/** A pattern has one `*`, and of equally specific ones the first wins: tools of the same file name have no own types. */
function declarationsOf(files: readonly string[], folder: string): string {
  const byName = Map.groupBy(files, (file) => basename(file));
  const unique = [...byName].filter(([, same]) => same.length === 1).sort(([a], [b]) => (a < b ? -1 : 1));
  const precise = unique.map(([name, [file]]) => {
    const path = normalizePath(relative(folder, file!));
    const specifier = path.startsWith(".") ? path : `./${path}`;
    return `declare module "keyhole:*/${name}" {
  const pkg: import("@keyhole/kernel").PackageOf<typeof import("${specifier}").default>;
  export default pkg;
}
`;
  });
  return [heading, ...precise, others].join("");
}
