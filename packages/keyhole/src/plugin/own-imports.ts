import { visibleLine } from "@keyhole/kernel/visible";
import { RootedPacker } from "../node/packer.ts";
import { forward } from "../node/root.ts";
import type { Inputs } from "../pack/inputs.ts";
import { ownId, ownPattern, resolveSpecifier } from "./ids.ts";
import { type CommonKind, importFailure, Imports, resolved } from "./imports.ts";
import { importerOf, isList, listFolders, listText } from "./lists.ts";

/** The paths that a bundler watches for a module. */
export interface Watched extends Inputs {
  /** Folders whose entries count. Those inside of the first are in it. */
  readonly folders: readonly string[];
}

type Watch = (inputs: Watched) => void;

/**
 * Imports of `keyhole:` in the bundlers beside Vite, by the packer's own resolver: neither the bytes nor the hash of a tool depend on the bundler around it, which never sees
 * the tool's source.
 */
export class OwnImports {
  readonly #folder: string;
  readonly #imports: Imports;

  /** @param folder the bundler's working directory */
  constructor(folder: string, root: string | undefined) {
    this.#folder = folder;
    this.#imports = new Imports(new RootedPacker(folder, root));
  }

  /** Forgets the packages: for the next bundle of a watching bundler. */
  clear(): void {
    this.#imports.clear();
  }

  /**
   * @param importer a file or an id; `undefined` or empty for an entry, which is relative to the working directory
   * @param watch called with what decides the file, also after a failure
   * @returns an id; `undefined` for an import that is not ours
   * @throws Error with a readable reason
   */
  async resolve(source: string, importer: string = "", watch: Watch = () => {}): Promise<string | undefined> {
    const from = importer === "" ? forward(`${this.#folder}/entry.js`) : fileOf(importer);
    const noteAll = (inputs: Inputs): void => watch({ ...inputs, folders: [] });
    const named = await resolved(
      resolveSpecifier(source, from, async (path) => this.#imports.packer.locate(path, from, noteAll)),
    );
    if (named === undefined || "list" in named) return named?.list;
    const { file, kind } = named;
    if (kind === "metered" || kind === "metered-url")
      throw new Error(`${visibleLine(source)} cannot be imported: only keyhole/vite meters modules.`);
    return ownId(kind, file);
  }

  /**
   * @param id from `resolve`
   * @param watch called with what the module is made of, also after a failure
   * @returns the text of a module
   * @throws Error with the import and a readable reason
   */
  async load(id: string, watch: Watch): Promise<string> {
    if (isList(id)) {
      watch({ files: [], missing: [], folders: listFolders(id) });
      return listText(id);
    }
    const [, kind, file = ""] = ownPattern.exec(id) ?? [];
    try {
      return await this.#imports.load(file, kind as CommonKind, (inputs) => watch({ ...inputs, folders: [] }));
    } catch (error) {
      throw importFailure(file, kind as CommonKind, this.#folder, error);
    }
  }
}

/** Of an id of ours, the file that it stands for; of a list, the file that asks for it. */
function fileOf(importer: string): string {
  if (isList(importer)) return importerOf(importer);
  const [, , file = importer.replace(/\?.*$/s, "")] = ownPattern.exec(importer) ?? [];
  return forward(file);
}
