import { versionedId } from "@keyhole/kernel";
import { join, resolve } from "node:path";
import type { ToolPackage } from "@keyhole/kernel";
import { pagePolicy } from "@keyhole/worker-host/csp";
import { normalizePath, type ResolvedConfig } from "vite";
import { RootedPacker } from "../node/packer.ts";
import type { Inputs } from "../pack/inputs.ts";
import { type ImportKind, isBundleKind } from "../pack/specifier.ts";
import { importFailure, Imports } from "../plugin/imports.ts";
import { importerOf, isList, listFolders, listText } from "../plugin/lists.ts";
import { watchFolder } from "../plugin/watched-folder.ts";
import { Declarations } from "./declarations.ts";
import { Dependents } from "./dependents.ts";
import { partsOf } from "./ids.ts";
import { isOwn } from "./own-modules.ts";
import { importMetered, type MeteredFile, meterFile, placeholderOf } from "./metered.ts";

/** Shared by the plugin and its copies in workers, so that a build packs and prints each tool once. */
export interface State {
  imports: Imports | undefined;
  /** By file. */
  readonly metered: Map<string, Promise<MeteredFile>>;
  readonly printed: Set<string>;
  /** The ids of all imports that a module made: the dev server answers requests for no other. */
  readonly given: Set<string>;
  declarations: Declarations | undefined;
}

/** Of a plugin's context, what depends on the environment for which it builds. */
interface LoadContext {
  readonly environment: {
    readonly mode: string;
    readonly config: {
      readonly cacheDir: string;
      readonly build: { readonly outDir: string };
      readonly resolve: { readonly conditions: readonly string[] };
    };
  };
  readonly meta: { readonly watchMode: boolean };
  addWatchFile(file: string): void;
  warn(message: string): void;
  emitFile(file: { type: "asset"; fileName: string; source: Uint8Array }): string;
}

/** Makes the modules of one plugin's imports. */
export class Loader {
  readonly #state: State;
  readonly #packerRoot: string | undefined;
  #hasPage = false;
  #root = process.cwd();
  #print: (line: string) => void = () => {};
  /** Names of the metered modules in the output. */
  readonly emitted: Set<string> = new Set();
  readonly dependents: Dependents = new Dependents();
  /** Of a dev server. It watches its root from the start. */
  watcher: { add(folder: string): void } | undefined;

  constructor(state: State, packerRoot: string | undefined) {
    this.#state = state;
    this.#packerRoot = packerRoot;
  }

  configure(config: ResolvedConfig, dts: string | undefined): void {
    this.#root = config.root;
    if (dts !== undefined) this.#state.declarations ??= new Declarations(resolve(config.root, dts));
    if (config.command === "build") this.#print = (line) => config.logger.info(line);
  }

  get imports(): Imports {
    return (this.#state.imports ??= new Imports(new RootedPacker(this.#root, this.#packerRoot)));
  }

  /** Writes the types of a tool before its module is asked for: a build does not end before. */
  async declare(source: string, id: string): Promise<void> {
    const { file, kind } = partsOf(id);
    // The lists of `?all` import by absolute paths, which no program writes.
    const isWritten = /^keyhole:(?!\/|[a-z]:)/i.test(source);
    if (kind === "tool" && isWritten && !file.endsWith(".wasm"))
      await this.#state.declarations?.add(source, normalizePath(file));
  }

  /**
   * Refuses a module of another plugin: in place of a package it is the source of the tool, which the program would evaluate.
   *
   * @throws Error for a module that this plugin did not load
   */
  checkOwn(id: string, { environment }: { readonly environment: object }): void {
    if (isOwn(environment, id)) return;
    const { file, kind } = isList(id) ? { file: importerOf(id), kind: "all" as const } : partsOf(id);
    const reason = "another plugin loads it, and the program would evaluate the tool; put keyhole() before that plugin";
    throw importFailure(file, kind, this.#root, new Error(reason));
  }

  loadList(id: string, context: LoadContext): string {
    const [folder] = listFolders(id);
    const { mode, config } = context.environment;
    if (mode !== "dev" && context.meta.watchMode)
      watchFolder(context, folder, [resolve(this.#root, config.build.outDir)]);
    if (mode === "dev" && !`${folder}/`.startsWith(`${normalizePath(this.#root)}/`)) this.watcher?.add(folder);
    const text = listText(id);
    this.dependents.note(context.environment, id, ({ type }) => type !== "update" && listText(id) !== text);
    return text;
  }

  /** @throws Error with the import and a readable reason */
  async load(id: string, context: LoadContext): Promise<string> {
    const { file, kind } = partsOf(id);
    try {
      if (kind === "metered" || kind === "metered-url") return await this.#loadMetered(file, kind, context);
      return await this.imports.load(
        file,
        isBundleKind(kind) ? kind : "bytes",
        (inputs, isMade) => this.#watch(id, inputs, isMade, context),
        (pkg) => this.#printOnce(pkg),
      );
    } catch (error) {
      throw importFailure(file, kind, this.#root, error);
    }
  }

  #watch(id: string, { files, missing }: Inputs, isMade: boolean, context: LoadContext): void {
    for (const each of files) context.addWatchFile(each);
    // Vite notes no file for a module that failed.
    const unknown = new Set(isMade ? missing : [...files, ...missing]);
    this.dependents.note(context.environment, id, (change) => unknown.has(change.file));
  }

  async #loadMetered(file: string, kind: ImportKind, context: LoadContext): Promise<string> {
    const { mode, config } = context.environment;
    const { metered } = this.#state;
    context.addWatchFile(file);
    try {
      const pending =
        metered.get(file) ?? meterFile(file, this.imports.packer.read(file), join(config.cacheDir, "keyhole"));
      metered.set(file, pending);
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
      metered.delete(file);
      throw error;
    }
  }

  /** Forgets what is made of a file. */
  async forget(changed: string): Promise<void> {
    this.#state.metered.delete(normalizePath(changed));
    await this.imports.forget(changed);
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
