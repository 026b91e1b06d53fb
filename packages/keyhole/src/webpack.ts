import { knownOptions } from "@keyhole/kernel/foreign";
import manifest from "../package.json" with { type: "json" };
import type { RootOption } from "./node/packer.ts";
import { idPattern, unschemedPattern } from "./plugin/ids.ts";
import { OwnImports, type Watched } from "./plugin/own-imports.ts";

/** Of webpack's parts, what is used. They are webpack's own objects: only the types are ours. */
interface Hook<Args extends readonly unknown[], Result> {
  tapPromise(name: string, work: (...args: Args) => Promise<Result>): void;
  for(scheme: string): Hook<Args, Result>;
}
interface PathSet {
  add(path: string): void;
}
interface Resolving {
  readonly fileDependencies: PathSet;
  readonly missingDependencies: PathSet;
  readonly request: string;
  readonly contextInfo: { readonly issuer: string };
}
interface Loading {
  readonly resource: string;
  addDependency(file: string): void;
  addMissingDependency(file: string): void;
  addContextDependency(folder: string): void;
}
interface ResourceData {
  resource: string;
  path: string;
  query: string;
  fragment: string;
}
interface Compiler {
  readonly context: string;
  readonly hooks: {
    readonly compilation: {
      tap(name: string, work: (compilation: object, parts: { normalModuleFactory: Factory }) => void): void;
    };
    readonly beforeCompile: { tap(name: string, work: () => void): void };
  };
  readonly webpack: {
    readonly NormalModule: {
      getCompilationHooks(compilation: object): {
        readonly readResource: Hook<[Loading], string>;
      };
    };
  };
}
interface Factory {
  readonly hooks: {
    readonly beforeResolve: Hook<[Resolving], undefined>;
    readonly resolveForScheme: Hook<[ResourceData, Resolving], true>;
  };
}

const name = "keyhole";

/**
 * The plugin for webpack 5: `import pkg from "keyhole:./echo.ts"` is the package of the tool, with
 * the hash that every other bundler gives it. webpack reads `keyhole:` as the scheme of a URL and
 * asks its plugins for a handler. No resolver, rule or loader of the configuration sees the tool's
 * source.
 *
 * @example
 * // webpack.config.js
 * import { keyhole } from "keyhole/webpack";
 * export default { plugins: [keyhole()] };
 */
export function keyhole(options: RootOption = {}): { apply(compiler: object): void } {
  const { root } = knownOptions(options, { root: true }, "keyhole");
  return {
    apply(given) {
      const compiler = given as Compiler;
      const imports = new OwnImports(compiler.context, root);
      compiler.hooks.beforeCompile.tap(name, () => imports.clear());
      compiler.hooks.compilation.tap(name, (compilation, { normalModuleFactory: { hooks } }) => {
        hooks.beforeResolve.tapPromise(name, async ({ request, contextInfo }) => {
          // It throws: without the scheme the bundler would evaluate the file.
          if (unschemedPattern.test(request) || idPattern.test(request))
            await imports.resolve(request, contextInfo.issuer);
          return undefined;
        });
        hooks.resolveForScheme.for(name).tapPromise(name, async (data, resolving) => {
          const id = await imports.resolve(data.resource, issuerOf(resolving.contextInfo.issuer), (inputs) => {
            for (const each of inputs.files) resolving.fileDependencies.add(each);
            for (const each of inputs.missing) resolving.missingDependencies.add(each);
          });
          const resource = `${start}${encodeURIComponent(id ?? "")}`;
          Object.assign(data, { resource, path: resource, query: "", fragment: "" } satisfies ResourceData);
          return true;
        });
        const { readResource } = compiler.webpack.NormalModule.getCompilationHooks(compilation);
        readResource
          .for(name)
          .tapPromise(name, (module) => imports.load(idOf(module.resource), (inputs) => watch(module, inputs)));
      });
    },
  };
}

/** webpack watches a folder with all that is in it. */
function watch(module: Loading, { files, missing, folders: [folder] }: Watched): void {
  for (const each of files) module.addDependency(each);
  for (const each of missing) module.addMissingDependency(each);
  if (folder !== undefined) module.addContextDependency(folder);
}

/** webpack keeps modules on disk by their names: another version of the packer makes modules of its own. */
const start = `${name}:${manifest.version}:`;

function idOf(resource: string): string {
  return decodeURIComponent(resource.slice(start.length));
}

function issuerOf(issuer: string): string {
  return issuer.startsWith(start) ? idOf(issuer) : issuer;
}
