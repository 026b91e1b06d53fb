import { versionedId } from "@keyhole/kernel";
import { join, resolve } from "node:path";
import type { ToolPackage } from "@keyhole/kernel";
import { pagePolicy } from "@keyhole/worker-host/csp";
import { normalizePath, type ResolvedConfig } from "vite";
import { type ImportKind, isBundleKind } from "../pack/specifier.ts";
import { importFailure, type Imports } from "../plugin/imports.ts";
import { Declarations } from "./declarations.ts";
import { partsOf } from "./ids.ts";
import { importMetered, type MeteredFile, meterFile, placeholderOf } from "./metered.ts";

/** Shared by the plugin and its copies in workers, so that a build packs and prints each tool once. */
export interface State {
  readonly imports: Imports;
  readonly printed: Set<string>;
  /** The ids of all imports that a module made: the dev server answers requests for no other. */
  readonly given: Set<string>;
  declarations: Declarations | undefined;
}

/** Of a plugin's context, what depends on the environment for which it builds. */
interface LoadContext {
  readonly environment: {
    readonly mode: string;
    readonly config: { readonly cacheDir: string; readonly resolve: { readonly conditions: readonly string[] } };
  };
  addWatchFile(file: string): void;
  emitFile(file: { type: "asset"; fileName: string; source: Uint8Array }): string;
}

/** Makes the modules of one plugin's imports. */
export class Loader {
  readonly #state: State;
  readonly #metered = new Map<string, Promise<MeteredFile>>();
  #hasPage = false;
  #root = process.cwd();
  #print: (line: string) => void = () => {};
  /** Names of the metered modules in the output. */
  readonly emitted: Set<string> = new Set();

  constructor(state: State) {
    this.#state = state;
  }

  configure(config: ResolvedConfig, dts: string | undefined): void {
    this.#root = config.root;
    if (dts !== undefined) this.#state.declarations ??= new Declarations(resolve(config.root, dts));
    if (config.command === "build") this.#print = (line) => config.logger.info(line);
  }

  /** Writes the types of a tool before its module is asked for: a build does not end before. */
  async declare(source: string, id: string): Promise<void> {
    const { file, kind } = partsOf(id);
    // The lists of `?all` import by absolute paths, which no program writes.
    const isWritten = /^keyhole:(?!\/|[a-z]:)/i.test(source);
    if (kind === "tool" && isWritten && !file.endsWith(".wasm"))
      await this.#state.declarations?.add(source, normalizePath(file));
  }

  /** @throws Error with the import and a readable reason */
  async load(id: string, context: LoadContext): Promise<string> {
    const { file, kind } = partsOf(id);
    try {
      if (kind === "metered" || kind === "metered-url") return await this.#loadMetered(file, kind, context);
      const watch = (each: string): void => context.addWatchFile(each);
      return await this.#state.imports.load(file, isBundleKind(kind) ? kind : "bytes", watch, (pkg) =>
        this.#printOnce(pkg),
      );
    } catch (error) {
      throw importFailure(file, kind, this.#root, error);
    }
  }

  async #loadMetered(file: string, kind: ImportKind, context: LoadContext): Promise<string> {
    const { mode, config } = context.environment;
    try {
      const pending = this.#metered.get(file) ?? meterFile(file, join(config.cacheDir, "keyhole"));
      this.#metered.set(file, pending);
      const { path, name, bytes } = await pending;
      if (kind === "metered-url") return `export { default } from ${JSON.stringify(`${path}?url&no-inline`)};`;
      if (!config.resolve.conditions.includes("workerd"))
        throw new Error(
          'its environment has no condition "workerd"; add it to `resolve.conditions` for a Worker, and use ?metered-url elsewhere',
        );
      if (mode === "dev") return importMetered(path);
      context.emitFile({ type: "asset", fileName: name, source: bytes });
      this.emitted.add(name);
      return importMetered(placeholderOf(name));
    } catch (error) {
      this.#metered.delete(file);
      throw error;
    }
  }

  /** The one module that puts isolates into a page. */
  notePage(id: string): void {
    if (/[\\/]worker-host[\\/].*[\\/]dom-frame-container\.[jt]s$/.test(id)) this.#hasPage = true;
  }

  /** From sources, the script that is bundled here is another one than the script that `@keyhole/worker-host/csp` knows. */
  printPolicy(): void {
    if (!this.#hasPage || this.#state.printed.has("policy") || import.meta.url.endsWith(".ts")) return;
    this.#state.printed.add("policy");
    this.#print(
      `keyhole: send this header with the page and with its workers' scripts, and add to connect-src each host that tools read`,
    );
    this.#print(`Content-Security-Policy: ${pagePolicy()}`);
  }

  #printOnce({ manifest: { name, version, source }, hash }: ToolPackage): void {
    const { printed } = this.#state;
    if (printed.has(hash)) return;
    printed.add(hash);
    const isolate = source === "wasm" ? "a WebAssembly isolate" : "a JavaScript isolate";
    this.#print(`keyhole: packed ${versionedId({ name, version })} ${hash} for ${isolate}`);
  }
}
