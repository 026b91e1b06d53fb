import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { knownOptions } from "@keyhole/kernel/foreign";
import { compileEngine, type Engine } from "@keyhole/worker-host/wasm";
import type { Bundle, BundleKind, Esbuild } from "../pack/bundle.ts";
import { baseOf, type PackFiles } from "../pack/files.ts";
import { type Inputs, RecordedFiles } from "../pack/inputs.ts";
import { type PackedTool, Packer } from "../pack/packer.ts";
import { Resolver } from "../pack/resolve.ts";
import { filesUnder, forward, projectRoot } from "./root.ts";

export interface RootOption {
  /**
   * The folder that bounds what the packer reads: a link that leads out of it is refused. Relative to the working directory; in a plugin, to the bundler's folder.
   * Default: the nearest workspace around that folder (a package.json with `workspaces`, or pnpm-workspace.yaml), else the nearest folder with a package.json,
   * else that folder.
   */
  readonly root?: string | undefined;
}

/** esbuild starts a process when it is first used: not before a tool is packed. */
const lazyEsbuild: Esbuild = {
  version: "0.28.2",
  build: async (options) => (await import("esbuild")).build(options),
};

/** In the repository this module is its source, and so are the packages that a tool imports. */
const conditions = import.meta.url.endsWith(".ts") ? ["keyhole-source"] : [];

let engine: Promise<Engine> | undefined;

async function loadEngine(): Promise<Engine> {
  return compileEngine(new Uint8Array(await readFile(fileURLToPath(import.meta.resolve("quickjs-wasi/quickjs.wasm")))));
}

/** The packer of one root, and the reader of it. */
export class RootedPacker {
  readonly #files: PackFiles;
  readonly #packer: Packer;

  /** @param folder of the person who packs, to which the root is relative */
  constructor(folder: string, root: string | undefined) {
    this.#files = filesUnder(root === undefined ? projectRoot(folder) : resolve(folder, root));
    this.#packer = new Packer({
      esbuild: lazyEsbuild,
      files: this.#files,
      conditions,
      engine: () => (engine ??= loadEngine()),
    });
  }

  /** @throws BundleError with a readable reason */
  pack(file: string): Promise<PackedTool> {
    return this.#packer.pack(forward(file));
  }

  /** @throws BundleError with a readable reason */
  bundle(file: string, kind: BundleKind): Promise<Bundle> {
    return this.#packer.bundle(forward(file), kind);
  }

  /** @throws Error with a readable reason */
  read(file: string): Uint8Array {
    const bytes = this.#files.read(this.#files.realPath(forward(file)));
    if (bytes === undefined) throw new Error(`There is no file ${baseOf(forward(file))}.`);
    return bytes;
  }

  /**
   * The file that an import names, as the packer finds it inside of a tool.
   *
   * @param watch called with what decides it, also after a failure
   * @throws Error with a readable reason
   */
  locate(source: string, importer: string, watch: (inputs: Inputs) => void): string {
    const files = new RecordedFiles(this.#files);
    try {
      return new Resolver(files, conditions).locate(source, importer, "import").path;
    } finally {
      watch(files.inputs());
    }
  }
}

/**
 * Packs a tool: bundles the file with all that it imports, reads its manifest in an isolate, and hashes both. The same sources give the same hash in every bundler, in
 * the command and in a page.
 *
 * @param file a TypeScript or JavaScript module whose default export is the result of `defineTool`; or a `.wasm` file with its manifest beside it
 * @throws Error with a reason for the author of the tool
 * @example
 * const { package: pkg } = await packTool("tools/read-issue.ts");
 * kernel.register(pkg);
 */
export async function packTool(file: string, options: RootOption = {}): Promise<PackedTool> {
  const { root } = knownOptions(options, { root: true }, "packTool");
  return new RootedPacker(process.cwd(), root).pack(resolve(file));
}
