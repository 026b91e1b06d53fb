import { knownOptions } from "@keyhole/kernel/foreign";
import type { RootOption } from "./node/packer.ts";
import { idPattern, ownPattern, unschemedPattern } from "./plugin/ids.ts";
import { OwnImports, type Watched } from "./plugin/own-imports.ts";
import { specifierPattern } from "./pack/specifier.ts";
import { type Output, outputFolders, watchFolder } from "./plugin/watched-folder.ts";

interface Context {
  readonly meta: { readonly watchMode: boolean };
  addWatchFile(path: string): void;
  warn(message: string): void;
}

/** The interface of a plugin for rollup and rolldown. */
interface RollupPlugin {
  readonly name: string;
  options(options: { readonly output?: Output | readonly Output[] | undefined }): null;
  buildStart(): void;
  readonly resolveId: {
    readonly order: "pre";
    handler(source: string, importer?: string): Promise<string | null>;
  };
  load(this: Context, id: string): Promise<{ readonly code: string } | null>;
}

/**
 * The plugin for rollup and rolldown: `import pkg from "keyhole:./echo.ts"` is the package of the tool, with the hash that every other bundler gives it.
 *
 * @example
 * // rollup.config.js
 * import { keyhole } from "keyhole/rollup";
 * export default { plugins: [keyhole()] };
 */
export function keyhole(options: RootOption = {}): RollupPlugin {
  const { root } = knownOptions(options, { root: true }, "keyhole");
  const imports = new OwnImports(process.cwd(), root);
  let outputs: readonly string[] = [];
  const watch = (context: Context, { files, folders: [folder] }: Watched): void => {
    for (const each of files) context.addWatchFile(each);
    if (folder !== undefined && context.meta.watchMode) watchFolder(context, folder, outputs);
  };
  const asked = [specifierPattern, unschemedPattern, idPattern];
  return {
    name: "keyhole",
    options({ output = [] }) {
      outputs = outputFolders([output].flat());
      return null;
    },
    buildStart: () => imports.clear(),
    resolveId: {
      order: "pre",
      async handler(source, importer) {
        return asked.some((each) => each.test(source)) ? ((await imports.resolve(source, importer)) ?? null) : null;
      },
    },
    async load(id) {
      return ownPattern.test(id) ? { code: await imports.load(id, (inputs) => watch(this, inputs)) } : null;
    },
  };
}
