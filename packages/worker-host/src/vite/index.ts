import { readFile } from "node:fs/promises";
import { basename, join, relative, resolve } from "node:path";
import type { ToolPackage } from "@keyhole/kernel";
import { normalizePath, type Plugin, type Rolldown } from "vite";
import { BundleError, type BundleKind, bundle } from "./bundle.ts";
import { Declarations } from "./declarations.ts";
import {
  importMetered,
  type MeteredFile,
  meterFile,
  placeholderOf,
  placeholderPattern,
  resolvePlaceholders,
} from "./metered.ts";
import { manifestFileOf, readModule } from "./read-module.ts";
import { readTool } from "./read-tool.ts";

export interface KeyholeOptions {
  /**
   * Where to write the types of the imported tools, relative to Vite's root. With that file in the program `kernel.call(pkg, input)` knows
   * input and output. It takes the place of `@keyhole/worker-host/vite/client`. Default: not written.
   */
  readonly dts?: string;
}

const queryPattern = /\?(tool|iife|esm)$/;
const bytesPattern = /\?bytes$/;
const meteredPattern = /\?(metered|metered-url)$/;

/** Of a plugin's context, what depends on the environment for which it builds. */
interface BuildContext {
  readonly environment: {
    readonly mode: string;
    readonly config: { readonly cacheDir: string; readonly resolve: { readonly conditions: readonly string[] } };
  };
  emitFile(file: { type: "asset"; fileName: string; source: Uint8Array }): string;
}

/** What an import becomes, and the files that it was made of. */
interface Built {
  readonly module: string;
  readonly files: readonly string[];
}

/**
 * Turns files into what isolates load, in dev, build, SSR and vitest alike:
 *
 * - `import pkg from "./echo.ts?tool"`: a `ToolPackage`, checked and hashed; the same bytes on every machine.
 * - `import pkg from "./hello.wasm?tool"`: a `ToolPackage` of a WebAssembly module and the manifest beside it, `hello.json`.
 * - `import text from "./shell.ts?iife"`: the file and its imports as one classic script.
 * - `import text from "./shell.ts?esm"`: the same as one ES module; `cloudflare:*` and `./tool.js` stay imports.
 * - `import bytes from "./sort.wasm?bytes"`: a file's bytes, in the module itself: for a WASI command.
 * - `import module from "quickjs-wasi/quickjs.wasm?metered"`, in a Worker: the file as a `WebAssembly.Module` that counts its fuel. It was rewritten by the build,
 *   because a Worker compiles nothing from bytes. `?metered-url` is its address, for pages.
 *
 * A file that cannot become one of these fails the build with its name and the reason.
 *
 * @example
 * // vite.config.ts
 * import { keyhole } from "@keyhole/worker-host/vite";
 * export default { plugins: [keyhole()] };
 */
export function keyhole(options: KeyholeOptions = {}): Plugin {
  const built = new Map<string, Promise<Built>>();
  const metered = new Map<string, Promise<MeteredFile>>();
  const emitted = new Set<string>();
  let root = process.cwd();
  let declarations: Declarations | undefined;

  const load = async (id: string, watch: (file: string) => void): Promise<string> => {
    const { file, kind } = parts(id);
    let pending = built.get(id);
    if (pending === undefined) {
      pending = build(id, []);
      built.set(id, pending);
    }
    try {
      const { module, files } = await pending;
      for (const each of files) watch(each);
      if (kind === "tool" && !file.endsWith(".wasm")) await declarations?.add(file);
      return module;
    } catch (error) {
      // Tried again with the next request: what repairs it may be a file that nothing could watch, because it was not there.
      built.delete(id);
      for (const each of error instanceof BundleError ? error.modules : []) watch(each);
      throw failure(file, `?${kind}`, error);
    }
  };

  const loadBytes = async (id: string): Promise<string> => {
    const file = id.replace(bytesPattern, "");
    try {
      return bytesText(await readFile(file));
    } catch (error) {
      throw failure(file, "?bytes", error);
    }
  };

  const loadMetered = async (id: string, context: BuildContext): Promise<string> => {
    const file = id.replace(meteredPattern, "");
    const query = id.slice(file.length);
    const { mode, config } = context.environment;
    try {
      const pending = metered.get(file) ?? meterFile(file, join(config.cacheDir, "keyhole"));
      metered.set(file, pending);
      const { path, name, bytes } = await pending;
      if (query === "?metered-url") return `export { default } from ${JSON.stringify(`${path}?url&no-inline`)};`;
      if (!config.resolve.conditions.includes("workerd"))
        throw new Error("only a Worker imports modules of WebAssembly; elsewhere ?metered-url gives the address");
      if (mode === "dev") return importMetered(path);
      context.emitFile({ type: "asset", fileName: name, source: bytes });
      emitted.add(name);
      return importMetered(placeholderOf(name));
    } catch (error) {
      metered.delete(file);
      throw failure(file, query, error);
    }
  };

  const failure = (file: string, query: string, error: unknown): Error => {
    const reason = error instanceof Error ? error.message : String(error);
    return new Error(`${normalizePath(relative(root, file))} cannot be imported with ${query}: ${reason}`, {
      cause: error,
    });
  };

  return {
    name: "keyhole",
    enforce: "pre",
    // Only a worker of ours imports it, so that the dev server would find it when the page runs, and load all of it again. It finds its WebAssembly beside it, too.
    config: () => ({ optimizeDeps: { exclude: ["@sqlite.org/sqlite-wasm"] } }),
    // A server's build leaves assets to the page's; a Worker's modules are its own.
    configEnvironment: (_name, { resolve: { conditions = [] } = {} }) =>
      conditions.includes("workerd") ? { build: { emitAssets: true } } : null,
    configResolved(config) {
      root = config.root;
      if (options.dts !== undefined) declarations = new Declarations(resolve(root, options.dts));
    },
    resolveId: {
      filter: { id: [queryPattern, bytesPattern, meteredPattern, placeholderPattern] },
      handler(source, importer) {
        if (placeholderPattern.test(source)) return { id: source, external: true };
        return resolveWithQuery(this, source, importer);
      },
    },
    load: {
      filter: { id: [queryPattern, bytesPattern, meteredPattern] },
      async handler(id) {
        if (bytesPattern.test(id)) {
          this.addWatchFile(id.replace(bytesPattern, ""));
          return { code: await loadBytes(id), moduleType: "js" };
        }
        if (meteredPattern.test(id)) return { code: await loadMetered(id, this), moduleType: "js" };
        return { code: await load(id, (file) => this.addWatchFile(file)), moduleType: "js" };
      },
    },
    async watchChange(changed) {
      const file = normalizePath(changed);
      for (const [id, pending] of built) {
        const files = await pending.then(
          (result) => result.files,
          () => [],
        );
        if (files.some((each) => normalizePath(each) === file)) built.delete(id);
      }
    },
    renderChunk(code, { fileName }) {
      const resolved = resolvePlaceholders(code, fileName, emitted);
      return resolved === undefined ? null : { code: resolved, map: null };
    },
  };
}

function parts(id: string): { readonly file: string; readonly kind: BundleKind } {
  const kind = queryPattern.exec(id)![1] as BundleKind;
  return { file: id.slice(0, -kind.length - 1), kind };
}

/** @param around the bundles in which this one is wanted, outermost first: a shell may carry another bundle, and none carries itself. */
async function build(id: string, around: readonly string[]): Promise<Built> {
  const { file, kind } = parts(id);
  if (kind === "tool" && file.endsWith(".wasm")) {
    const read = await readModule(file).catch((error: unknown) => {
      throw new BundleError(error instanceof Error ? error.message : String(error), [file, manifestFileOf(file)]);
    });
    return { module: packageText(read.package), files: read.files };
  }
  const { code, modules } = await bundle(file, kind, [nestedBundles([...around, id])]);
  if (kind !== "tool") return { module: `export default ${JSON.stringify(code)};`, files: modules };
  const read = await readTool(code);
  if (!read.ok) throw new BundleError(read.reason, modules);
  return { module: packageText(read.package), files: modules };
}

/** From text: a literal would take a key such as `__proto__` for a prototype, and parses slower. */
function packageText(pkg: ToolPackage): string {
  return `export default /* @__PURE__ */ JSON.parse(${JSON.stringify(JSON.stringify(pkg))});`;
}

/** In the module itself, so that they are there wherever it runs. */
function bytesText(bytes: Buffer): string {
  return `export default Uint8Array.from(atob(${JSON.stringify(bytes.toString("base64"))}), (unit) => unit.charCodeAt(0));`;
}

function nestedBundles(around: readonly string[]): Rolldown.Plugin {
  return {
    name: "keyhole:nested",
    resolveId(source, importer) {
      return queryPattern.test(source) ? resolveWithQuery(this, source, importer) : null;
    },
    async load(id) {
      if (!queryPattern.test(id)) return null;
      if (around.includes(id)) throw new Error(`${basename(id)} would have to contain itself`);
      const { module, files } = await build(id, around);
      for (const file of files) this.addWatchFile(file);
      return { code: module, moduleType: "js" };
    },
  };
}

interface ResolveContext {
  resolve(source: string, importer?: string, options?: { skipSelf?: boolean }): Promise<{ readonly id: string } | null>;
}

async function resolveWithQuery(
  context: ResolveContext,
  source: string,
  importer: string | undefined,
): Promise<string | null> {
  const [query] = queryPattern.exec(source) ?? bytesPattern.exec(source) ?? meteredPattern.exec(source)!;
  const resolved = await context.resolve(source.slice(0, -query.length), importer, { skipSelf: true });
  return resolved === null ? null : `${resolved.id}${query}`;
}
