import { knownOptions } from "@keyhole/kernel/foreign";
import type { ToolPackage } from "@keyhole/kernel";
import type { Engine } from "@keyhole/worker-host/wasm/interpreter";
import { type Bundle, bundle, BundleError, type Bundler, type BundleKind, type NestedImports } from "./bundle.ts";
import { baseOf } from "./files.ts";
import { packageModule, textModule } from "./module-text.ts";
import { manifestFileOf, readModule } from "./read-module.ts";
import { readTool } from "./read-tool.ts";
import { isBundleKind, parseSpecifier, specifierOf } from "./specifier.ts";

export interface PackerOptions extends Bundler {
  /** QuickJS, metered: the isolate that reads manifests. The packer asks for it once, with the first tool. */
  readonly engine: () => Promise<Engine>;
}

export interface PackedTool {
  readonly package: ToolPackage;
  /** Absolute paths of every file that a change may touch, sorted. */
  readonly files: readonly string[];
}

/**
 * Makes packages of tool files: the same bytes and the same hash for the same sources, in Node and in a page.
 *
 * @example
 * const packer = new Packer({ esbuild, files, engine: () => compileEngine(quickJsBytes) });
 * const { package: pkg } = await packer.pack("/tools/echo.ts");
 */
export class Packer {
  readonly #options: PackerOptions;
  #engine: Promise<Engine> | undefined;

  constructor(options: PackerOptions) {
    this.#options = knownOptions(options, { esbuild: true, files: true, conditions: true, engine: true }, "Packer");
  }

  /**
   * @param file a module whose default export is the result of `defineTool`, or a WebAssembly module with its manifest beside it
   * @throws BundleError with a readable reason
   */
  pack(file: string): Promise<PackedTool> {
    return this.#pack(file, []);
  }

  /** @throws BundleError with a readable reason */
  bundle(file: string, kind: BundleKind): Promise<Bundle> {
    return this.#bundle(file, kind, []);
  }

  /** @param around the bundles in which this one is wanted, outermost first: a shell may carry another bundle, and none carries itself */
  async #pack(file: string, around: readonly string[]): Promise<PackedTool> {
    const { files } = this.#options;
    if (file.endsWith(".wasm")) {
      const made = [manifestFileOf(file), file].sort();
      return { package: attempt(made, () => readModule(file, files)), files: made };
    }
    const { code, files: made } = await this.#bundle(file, "tool", around);
    const engine = await (this.#engine ??= this.#options.engine());
    try {
      return { package: await readTool(code, engine), files: made };
    } catch (error) {
      throw failure(error, made);
    }
  }

  #bundle(file: string, kind: BundleKind, around: readonly string[]): Promise<Bundle> {
    return bundle(this.#options, file, kind, this.#nested([...around, specifierOf(file, kind)]));
  }

  #nested(around: readonly string[]): NestedImports {
    return {
      resolve(specifier, importer, resolver) {
        const { path, kind } = parseSpecifier(specifier);
        return specifierOf(resolver.resolve(path, importer, "import").path, kind);
      },
      load: async (name) => {
        const { path, kind } = parseSpecifier(name);
        if (around.includes(name)) throw new Error(`${baseOf(path)} would have to contain itself`);
        if (!isBundleKind(kind)) throw new Error(`the packer cannot bundle ${baseOf(path)} as ${kind}`);
        if (kind === "tool") {
          const { package: pkg, files } = await this.#pack(path, around);
          return { module: packageModule(pkg), files };
        }
        const { code, files } = await this.#bundle(path, kind, around);
        return { module: textModule(code), files };
      },
    };
  }
}

function attempt<Value>(files: readonly string[], work: () => Value): Value {
  try {
    return work();
  } catch (error) {
    throw failure(error, files);
  }
}

function failure(error: unknown, files: readonly string[]): BundleError {
  return new BundleError(error instanceof Error ? error.message : String(error), files);
}
