import { visibleLine } from "@keyhole/kernel/visible";
import { forward, locate } from "../node/packer.ts";
import { listPattern, listText, resolveSpecifier } from "./ids.ts";
import { type CommonKind, importFailure, Imports, resolved } from "./imports.ts";

/** Ours alone: no other plugin and no rule of a bundler takes it for a file. */
export const ownPattern: RegExp = /^\0keyhole-(tool|iife|esm|bytes|all):/;

/**
 * Imports of `keyhole:` in the bundlers beside Vite, by the packer's own resolver: neither the bytes nor the hash of a tool depend on the bundler around it, which never sees
 * the tool's source.
 */
export class OwnImports {
  readonly #imports = new Imports();

  /** Forgets the packages: for the next bundle of a watching bundler. */
  clear(): void {
    this.#imports.clear();
  }

  /**
   * @param importer a file or an id; `undefined` or empty for an entry, which is relative to the working directory
   * @returns an id; `undefined` for an import that is not ours
   * @throws Error with a readable reason
   */
  async resolve(source: string, importer: string = ""): Promise<string | undefined> {
    const from = importer === "" ? forward(`${process.cwd()}/entry.js`) : fileOf(importer);
    const named = await resolved(resolveSpecifier(source, from, async (path) => locate(path, from)));
    if (named === undefined || "list" in named) return named?.list;
    const { file, kind } = named;
    if (kind === "metered" || kind === "metered-url")
      throw new Error(`${visibleLine(source)} cannot be imported: only keyhole/vite meters modules.`);
    return `\0keyhole-${kind}:${file}`;
  }

  /**
   * @param id from `resolve`
   * @param watch called for each file that a change may touch, also after a failure
   * @returns the text of a module
   * @throws Error with the import and a readable reason
   */
  async load(id: string, watch: (file: string) => void): Promise<string> {
    if (listPattern.test(id)) return listText(id);
    const [prefix = "", kind] = ownPattern.exec(id) ?? [];
    const file = id.slice(prefix.length);
    try {
      return await this.#imports.load(file, kind as CommonKind, watch);
    } catch (error) {
      throw importFailure(file, kind as CommonKind, process.cwd(), error);
    }
  }
}

/** Of a list, the file that asks for it. */
function fileOf(importer: string): string {
  return forward(importer.replace(/^\0keyhole-(?:all:.*?|[a-z]+):/, "").replace(/\?.*$/s, ""));
}
