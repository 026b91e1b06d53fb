import { knownOptions } from "@keyhole/kernel/foreign";
import { visible } from "@keyhole/kernel/visible";
import type { Plugin } from "vite";
import type { RootOption } from "../node/packer.ts";
import { idPattern, ownPattern, unschemedPattern } from "../plugin/ids.ts";
import { resolved } from "../plugin/imports.ts";
import { isList } from "../plugin/lists.ts";
import { Loader, type State } from "./loader.ts";
import { noteOwn } from "./own-modules.ts";
import { placeholderPattern, resolvePlaceholders } from "./metered.ts";
import { specifierPattern } from "../pack/specifier.ts";
import { resolveId } from "./ids.ts";

export interface KeyholeOptions extends RootOption {
  /**
   * Where to write the types of the imported tools, relative to Vite's root. With that file in the program `kernel.call(pkg, input)` knows
   * input and output. Keep the file with the sources: a compiler that runs before the first build needs it. Default: not written.
   */
  readonly dts?: string;
}

/**
 * Turns files into what isolates load: in dev, build, SSR, workers, nested workers and vitest alike.
 *
 * - `import pkg from "keyhole:./echo.ts"`: a `ToolPackage`, checked and hashed; the same bytes on every machine.
 * - `import pkg from "keyhole:./hello.wasm"`: a `ToolPackage` of a WebAssembly module and the manifest beside it, `hello.json`.
 * - `import packages from "keyhole:./*.ts?all"`: the packages of all files that the pattern matches, in the order of their paths.
 * - `import text from "keyhole:./shell.ts?iife"`: the file and its imports as one classic script.
 * - `import text from "keyhole:./shell.ts?esm"`: the same as one ES module; `cloudflare:*` and `./tool.js` stay imports.
 * - `import bytes from "keyhole:./sort.wasm?bytes"`: a file's bytes, in the module itself: for a WASI command.
 * - `import module from "keyhole:quickjs-wasi/quickjs.wasm?metered"`, in a Worker: the file as a `WebAssembly.Module` that counts its fuel. The build rewrites it,
 *   because a Worker compiles nothing from bytes. `?metered-url` is its address, for pages.
 *
 * Only this plugin resolves the scheme `keyhole:`. Where it is missing, the import fails; no program evaluates the file.
 * A file that cannot become one of these fails the build with its name and the reason.
 *
 * @example
 * // vite.config.ts
 * import { keyhole } from "keyhole/vite";
 * export default { plugins: [keyhole()] };
 */
export function keyhole(options: KeyholeOptions = {}): Plugin {
  return pluginOf(
    knownOptions(options, { root: true, dts: true }, "keyhole"),
    { imports: undefined, metered: new Map(), printed: new Set(), declarations: undefined, given: new Set() },
    false,
  );
}

function pluginOf(options: KeyholeOptions, state: State, isInWorker: boolean): Plugin {
  const loader = new Loader(state, options.root);
  return {
    name: "keyhole",
    enforce: "pre",
    config: ({ worker }) => ({
      // Only a worker of ours imports it, so that the dev server would find it when the page runs, and load all of it again. It finds its WebAssembly beside it, too.
      optimizeDeps: { exclude: ["@sqlite.org/sqlite-wasm"] },
      // Vite gives workers a list of plugins of their own. The bundler cannot split a classic worker into chunks.
      ...(!isInWorker && {
        worker: { format: worker?.format ?? "es", plugins: () => [pluginOf(options, state, true)] },
      }),
    }),
    // A server's build leaves assets to the page's; a Worker's modules are its own.
    configEnvironment: (_name, { resolve: { conditions = [] } = {} }) =>
      conditions.includes("workerd") ? { build: { emitAssets: true } } : null,
    configResolved: (config) => loader.configure(config, options.dts),
    resolveId: {
      filter: { id: [specifierPattern, idPattern, placeholderPattern, unschemedPattern] },
      async handler(source, importer) {
        if (placeholderPattern.test(source)) return { id: source, external: true };
        const id = await resolved(resolveId(this, source, importer, state.given, loader.imports.packer));
        if (id !== null && idPattern.test(id)) await loader.declare(source, id);
        return id;
      },
    },
    load: {
      filter: { id: [idPattern, ownPattern] },
      async handler(id) {
        if (!state.given.has(id))
          throw new Error(`Got a request for ${visible(JSON.stringify(id))}, which no module imports.`);
        const code = isList(id) ? loader.loadList(id, this) : await loader.load(id, this);
        noteOwn(this.environment, id);
        return { code, moduleType: "js" };
      },
    },
    transform: {
      filter: { id: [idPattern, ownPattern] },
      handler(_, id) {
        loader.checkOwn(id, this);
      },
    },
    moduleParsed: ({ id }) => loader.notePage(id),
    configureServer: ({ watcher }) => void (loader.watcher = watcher),
    watchChange: (file) => loader.forget(file),
    hotUpdate({ modules, ...change }) {
      return loader.dependents.changed(this.environment, modules, change);
    },
    renderChunk(code, { fileName }) {
      const resolved = resolvePlaceholders(code, fileName, loader.emitted);
      return resolved === undefined ? null : { code: resolved, map: null };
    },
    closeBundle: () => loader.printPolicy(),
  };
}
