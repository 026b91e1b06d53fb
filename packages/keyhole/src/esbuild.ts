import { knownOptions } from "@keyhole/kernel/foreign";
import type { OnLoadResult, OnResolveArgs, OnResolveResult, Plugin } from "esbuild";
import type { RootOption } from "./node/packer.ts";
import { idPattern } from "./plugin/ids.ts";
import { OwnImports, type Watched } from "./plugin/own-imports.ts";
import { specifierPattern } from "./pack/specifier.ts";

/**
 * The plugin for esbuild: `import pkg from "keyhole:./echo.ts"` is the package of the tool, with the hash that every other bundler gives it.
 *
 * @example
 * import { keyhole } from "keyhole/esbuild";
 * await build({ plugins: [keyhole()] });
 */
export function keyhole(options: RootOption = {}): Plugin {
  const { root } = knownOptions(options, { root: true }, "keyhole");
  return {
    name: "keyhole",
    setup(build) {
      const imports = new OwnImports(build.initialOptions.absWorkingDir ?? process.cwd(), root);
      const onResolve = async ({ path, importer, kind }: OnResolveArgs): Promise<OnResolveResult | undefined> => {
        const watched = new WatchedPaths();
        const from = kind === "entry-point" ? undefined : importer;
        try {
          const id = await imports.resolve(path, from, (inputs) => watched.add(inputs));
          return id === undefined ? undefined : { path: id, namespace: "keyhole", ...watched.all };
        } catch (error) {
          return { errors: [messageOf(error)], ...watched.all };
        }
      };
      build.onStart(() => imports.clear());
      for (const filter of [specifierPattern, unschemedFilter, idPattern]) build.onResolve({ filter }, onResolve);
      build.onLoad({ filter: /.*/, namespace: "keyhole" }, async ({ path }): Promise<OnLoadResult> => {
        const watched = new WatchedPaths();
        try {
          const contents = await imports.load(path, (inputs) => watched.add(inputs));
          return { contents, loader: "js", ...watched.all };
        } catch (error) {
          return { errors: [messageOf(error)], ...watched.all };
        }
      });
    },
  };
}

/** esbuild reads filters as Go does, which knows no look-ahead. `resolve` looks again. */
const unschemedFilter = /[?&](?:[tT][oO]{2}[lL]|[kK][eE][yY][hH][oO][lL][eE])(?:[&=#-]|$)/;

/** esbuild watches a file that is not there as it watches one that is, and of a folder its entries alone. */
class WatchedPaths {
  readonly all: { readonly watchFiles: string[]; readonly watchDirs: string[] } = { watchFiles: [], watchDirs: [] };

  add({ files, missing, folders }: Watched): void {
    this.all.watchFiles.push(...files, ...missing);
    this.all.watchDirs.push(...folders);
  }
}

function messageOf(error: unknown): { readonly text: string } {
  return { text: error instanceof Error ? error.message : String(error) };
}
