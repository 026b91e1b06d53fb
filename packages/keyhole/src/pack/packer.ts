import { knownOptions } from "@keyhole/kernel/foreign";
import type { ToolPackage } from "@keyhole/kernel";
import type { Engine } from "@keyhole/worker-host/wasm/interpreter";
import { type Bundle, bundle, BundleError, type Bundler, type BundleKind, type NestedImports } from "./bundle.ts";
import { baseOf } from "./files.ts";
import { type Inputs, RecordedFiles } from "./inputs.ts";
import { packageModule, textModule } from "./module-text.ts";
import { readModule } from "./read-module.ts";
import { readTool } from "./read-tool.ts";
import { isBundleKind, parseSpecifier, specifierOf } from "./specifier.ts";

export interface PackerOptions extends Bundler {
  /** QuickJS, metered: the isolate that reads manifests. The packer asks for it once, with the first tool. */
  readonly engine: () => Promise<Engine>;
}

export interface PackedTool extends Inputs {
  readonly package: ToolPackage;
}

/** One packing: with the files that it has seen. */
interface Packing {
  readonly files: RecordedFiles;
  /** The bundles in which this one is wanted, outermost first: a shell may carry another bundle, and none carries itself. */
  readonly around: readonly string[];
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
  async pack(file: string): Promise<PackedTool> {
    const { made, ...inputs } = await this.#recorded((packing) => this.#pack(file, packing));
    return { package: made, ...inputs };
  }

  /** @throws BundleError with a readable reason */
  async bundle(file: string, kind: BundleKind): Promise<Bundle> {
    const { made, ...inputs } = await this.#recorded((packing) => this.#bundle(file, kind, packing));
    return { code: made, ...inputs };
  }

  async #recorded<Made>(make: (packing: Packing) => Promise<Made>): Promise<Inputs & { readonly made: Made }> {
    const files = new RecordedFiles(this.#options.files);
    try {
      return { made: await make({ files, around: [] }), ...files.inputs() };
    } catch (error) {
      throw new BundleError(error instanceof Error ? error.message : String(error), files.inputs());
    }
  }

  async #pack(file: string, packing: Packing): Promise<ToolPackage> {
    if (file.endsWith(".wasm")) return readModule(file, packing.files);
    const code = await this.#bundle(file, "tool", packing);
    return readTool(code, await (this.#engine ??= this.#options.engine()));
  }

  #bundle(file: string, kind: BundleKind, { files, around }: Packing): Promise<string> {
    const nested = this.#nested({ files, around: [...around, specifierOf(file, kind)] });
    return bundle({ ...this.#options, files }, file, kind, nested);
  }

  #nested(packing: Packing): NestedImports {
    return {
      resolve(specifier, importer, resolver) {
        const { path, kind } = parseSpecifier(specifier);
        return specifierOf(resolver.resolve(path, importer, "import").path, kind);
      },
      load: async (name) => {
        const { path, kind } = parseSpecifier(name);
        if (packing.around.includes(name)) throw new Error(`${baseOf(path)} would have to contain itself`);
        if (!isBundleKind(kind)) throw new Error(`the packer cannot bundle ${baseOf(path)} as ${kind}`);
        return kind === "tool"
          ? packageModule(await this.#pack(path, packing))
          : textModule(await this.#bundle(path, kind, packing));
      },
    };
  }
}
