import { existsSync } from "node:fs";
import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { dirname, relative, resolve } from "node:path";
import { normalizePath } from "vite";

const heading = `// Written by the keyhole plugin: the types of the tools that this program imports.
/// <reference types="keyhole/client" />
`;

/**
 * A `.d.ts` file with one module per specifier of a tool: the compiler takes an exact name before
 * the patterns of `keyhole/client`. It keeps the tools that it already names, as long as their
 * files exist. So two environments of one build, or two programs that share it, do not erase each
 * other's tools.
 */
export class Declarations {
  readonly #path: string;
  /** The files that a specifier stands for: one, or several where it is relative to several folders. */
  readonly #tools = new Map<string, Set<string>>();
  #writing: Promise<void> = Promise.resolve();

  constructor(path: string) {
    this.#path = path;
  }

  /**
   * Resolves when the file on disk names the tool.
   *
   * @param specifier as the program writes it: `keyhole:./echo.ts`
   */
  add(specifier: string, file: string): Promise<void> {
    if (this.#note(specifier, file)) this.#writing = this.#writing.then(() => this.#write());
    return this.#writing;
  }

  /** Whether it is new. */
  #note(specifier: string, file: string): boolean {
    const files = this.#tools.get(specifier) ?? new Set();
    this.#tools.set(specifier, files);
    if (files.has(file)) return false;
    files.add(file);
    return true;
  }

  async #write(): Promise<void> {
    const folder = dirname(this.#path);
    const before = await readFile(this.#path, "utf8").catch(() => "");
    for (const [, specifier, path] of before.matchAll(
      /declare module "(keyhole:[^"*]+)" \{\s*const pkg: [^;]*typeof import\("([^"]+)"\)/g,
    )) {
      const file = normalizePath(resolve(folder, path!));
      if (existsSync(file)) this.#note(specifier!, file);
    }
    const after = declarationsOf(this.#tools, folder);
    if (after === before) return;
    await mkdir(folder, { recursive: true });
    const draft = `${this.#path}.${process.pid}.tmp`;
    await writeFile(draft, after);
    await rename(draft, this.#path);
  }
}

/** A specifier that stands for several files has no types of its own: the compiler knows no importer of an ambient module. */
function declarationsOf(tools: ReadonlyMap<string, ReadonlySet<string>>, folder: string): string {
  const unique = [...tools].flatMap(([specifier, [file, ...more]]) =>
    file === undefined || more.length > 0 ? [] : [{ specifier, file }],
  );
  const modules = unique
    .sort((a, b) => (a.specifier < b.specifier ? -1 : 1))
    .map(({ specifier, file }) => {
      const path = normalizePath(relative(folder, file));
      const from = JSON.stringify(path.startsWith(".") ? path : `./${path}`);
      return `declare module ${JSON.stringify(specifier)} {
  const pkg: import("@keyhole/kernel").PackageOf<typeof import(${from}).default>;
  export default pkg;
}
`;
    });
  return [heading, ...modules].join("");
}
