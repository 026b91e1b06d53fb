import { relative } from "node:path";
import type { ToolPackage } from "@keyhole/kernel";
import { visibleLine } from "@keyhole/kernel/visible";
import type { RootedPacker } from "../node/packer.ts";
import { forward } from "../node/root.ts";
import { BundleError, type BundleKind } from "../pack/bundle.ts";
import type { Inputs } from "../pack/inputs.ts";
import { bytesModule, packageModule, textModule } from "../pack/module-text.ts";
import { type ImportKind, specifierOf } from "../pack/specifier.ts";

/** The forms of an import that each bundler supports. The Vite plugin can do more. */
export type CommonKind = BundleKind | "bytes";

/** The module for an import of `keyhole:`, and what it is made of. */
interface BuiltImport extends Inputs {
  readonly module: string;
  readonly package?: ToolPackage;
}

/** The imports of one build: the plugin packs each file once, for all bundles, workers and environments. */
export class Imports {
  readonly packer: RootedPacker;
  readonly #built = new Map<string, Promise<BuiltImport>>();

  constructor(packer: RootedPacker) {
    this.packer = packer;
  }

  /**
   * The text of the module that stands for a file.
   *
   * @param watch called with what the module is made of, also after a failure
   * @param onPackage called for a tool
   * @throws BundleError with a readable reason
   */
  async load(
    file: string,
    kind: CommonKind,
    watch: (inputs: Inputs, isMade: boolean) => void,
    onPackage: (pkg: ToolPackage) => void = () => {},
  ): Promise<string> {
    if (kind === "bytes") {
      watch({ files: [file], missing: [] }, true);
      return bytesModule(this.packer.read(file));
    }
    const key = specifierOf(file, kind);
    const pending = this.#built.get(key) ?? this.#build(file, kind);
    this.#built.set(key, pending);
    try {
      const { module, package: pkg, ...inputs } = await pending;
      watch(inputs, true);
      if (pkg !== undefined) onPackage(pkg);
      return module;
    } catch (error) {
      // Tried again with the next request.
      this.#built.delete(key);
      if (error instanceof BundleError) watch(error, false);
      throw error;
    }
  }

  /** Forgets what is made of a file, and what would be made of it now that it is there. */
  async forget(changed: string): Promise<void> {
    const file = forward(changed);
    for (const [key, pending] of this.#built) {
      const inputs = await pending.then(
        ({ files, missing }) => [...files, ...missing],
        () => [],
      );
      if (inputs.some((each) => forward(each) === file)) this.#built.delete(key);
    }
  }

  clear(): void {
    this.#built.clear();
  }

  async #build(file: string, kind: BundleKind): Promise<BuiltImport> {
    if (kind === "tool") {
      const packed = await this.packer.pack(file);
      return { ...packed, module: packageModule(packed.package) };
    }
    const { code, ...inputs } = await this.packer.bundle(file, kind);
    return { ...inputs, module: textModule(code) };
  }
}

/** The import and the reason, for the person who reads the bundler's output. No cause: bundlers print its raw message, too. */
export function importFailure(file: string, kind: ImportKind, root: string, cause: unknown): Error {
  return new Error(
    visibleLine(`${specifierOf(forward(relative(root, file)), kind)} cannot be imported: ${reasonOf(cause)}`),
  );
}

/** An import can be in a package from elsewhere. The bundler prints the reason to a terminal. */
export function resolved<Value>(resolving: Promise<Value>): Promise<Value> {
  return resolving.catch((error: unknown) => Promise.reject(new Error(visibleLine(reasonOf(error)))));
}

function reasonOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause);
}
