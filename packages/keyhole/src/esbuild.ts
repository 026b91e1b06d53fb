import { knownOptions } from "@keyhole/kernel/foreign";
import type { OnLoadResult, OnResolveArgs, OnResolveResult, Plugin } from "esbuild";
import { idPattern } from "./plugin/ids.ts";
import { OwnImports } from "./plugin/own-imports.ts";
import { specifierPattern } from "./pack/specifier.ts";

/**
 * The plugin for esbuild: `import pkg from "keyhole:./echo.ts"` is the package of the tool, with the hash that every other bundler gives it.
 *
 * @example
 * import { keyhole } from "keyhole/esbuild";
 * await build({ plugins: [keyhole()] });
 */
export function keyhole(options: Readonly<Record<string, never>> = {}): Plugin {
  knownOptions(options, {}, "keyhole");
  const imports = new OwnImports();
  const onResolve = async ({ path, importer, kind }: OnResolveArgs): Promise<OnResolveResult | undefined> => {
    const id = await imports.resolve(path, kind === "entry-point" ? undefined : importer);
    return id === undefined ? undefined : { path: id, namespace: "keyhole" };
  };
  return {
    name: "keyhole",
    setup(build) {
      build.onStart(() => imports.clear());
      for (const filter of [specifierPattern, unschemedFilter, idPattern]) build.onResolve({ filter }, onResolve);
      build.onLoad({ filter: /.*/, namespace: "keyhole" }, async ({ path }): Promise<OnLoadResult> => {
        const watchFiles: string[] = [];
        try {
          return { contents: await imports.load(path, (file) => watchFiles.push(file)), loader: "js", watchFiles };
        } catch (error) {
          return { errors: [{ text: error instanceof Error ? error.message : String(error) }], watchFiles };
        }
      });
    },
  };
}

/** esbuild reads filters as Go does, which knows no look-ahead. `resolve` looks again. */
const unschemedFilter = /[?&](?:[tT][oO]{2}[lL]|[kK][eE][yY][hH][oO][lL][eE])(?:[&=#-]|$)/;
