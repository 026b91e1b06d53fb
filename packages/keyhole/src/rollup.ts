import { knownOptions } from "@keyhole/kernel/foreign";
import { idPattern, unschemedPattern } from "./plugin/ids.ts";
import { OwnImports, ownPattern } from "./plugin/own-imports.ts";
import { specifierPattern } from "./pack/specifier.ts";

interface WatchContext {
  addWatchFile(file: string): void;
}

/** The interface of a plugin for rollup and rolldown. */
interface RollupPlugin {
  readonly name: string;
  buildStart(): void;
  readonly resolveId: {
    readonly order: "pre";
    handler(source: string, importer?: string): Promise<string | null>;
  };
  load(this: WatchContext, id: string): Promise<{ readonly code: string } | null>;
}

/**
 * The plugin for rollup and rolldown: `import pkg from "keyhole:./echo.ts"` is the package of the tool, with the hash that every other bundler gives it.
 *
 * @example
 * // rollup.config.js
 * import { keyhole } from "keyhole/rollup";
 * export default { plugins: [keyhole()] };
 */
export function keyhole(options: Readonly<Record<string, never>> = {}): RollupPlugin {
  knownOptions(options, {}, "keyhole");
  const imports = new OwnImports();
  const asked = [specifierPattern, unschemedPattern, idPattern];
  return {
    name: "keyhole",
    buildStart: () => imports.clear(),
    resolveId: {
      order: "pre",
      async handler(source, importer) {
        return asked.some((each) => each.test(source)) ? ((await imports.resolve(source, importer)) ?? null) : null;
      },
    },
    async load(id) {
      return ownPattern.test(id) ? { code: await imports.load(id, (file) => this.addWatchFile(file)) } : null;
    },
  };
}
