import { exports as exportsOf, imports as importsOf } from "resolve.exports";
import { baseOf, folderOf, isUnder, joinPath, type PackFiles } from "./files.ts";
import { hasSideEffects, type PackageJson, PackageJsons } from "./package-json.ts";

export type ImportForm = "import" | "require";

export interface Resolved {
  readonly path: string;
  readonly sideEffects: boolean;
}

/** Where an import leads, and the folder of the package that it names; `undefined` where the root alone bounds it. */
interface Found {
  readonly path: string | undefined;
  readonly within: string | undefined;
}

/** Extensions of JavaScript, which mean `.ts` files in TypeScript, and the extensions that an import omits. */
const written = /\.([mc]?)js$/;
const endings = [".ts", ".tsx", ".mts", ".cts", ".js", ".mjs", ".cjs", ".json"];

/** Modules of Node by their bare names: an installed package of such a name comes first. */
const nodeModules: ReadonlySet<string> = new Set(
  (
    "assert async_hooks buffer child_process cluster console constants crypto dgram diagnostics_channel dns domain events fs http http2 https " +
    "inspector module net os path perf_hooks process punycode querystring readline repl stream string_decoder sys timers tls trace_events tty " +
    "url util v8 vm wasi worker_threads zlib"
  ).split(" "),
);

/**
 * The one way from an import to a file, in Node and in a page. The plugin asks no bundler's resolver: their answers differ, and with them the hash of a tool. Package exports and
 * imports as Node reads them, the fields `module` and `main`, endings that TypeScript leaves out; no aliases, no `paths`, no `browser` field.
 */
export class Resolver {
  readonly #files: PackFiles;
  readonly #conditions: readonly string[];
  readonly #packages: PackageJsons;
  readonly #exists = new Map<string, boolean>();

  /** @param conditions of package exports, besides `module`, and `import` or `require` */
  constructor(files: PackFiles, conditions: readonly string[] = []) {
    this.#files = files;
    this.#conditions = conditions;
    this.#packages = new PackageJsons(files);
  }

  /**
   * For imports in a bundle, whose files can be a stranger's: none leads out of the package that it names.
   *
   * @throws Error with a readable reason
   */
  resolve(source: string, importer: string, form: ImportForm): Resolved {
    const { path, within } = this.locate(source, importer, form);
    if (within !== undefined && !isUnder(within, path))
      throw new Error(
        `"${source}" (imported by ${baseOf(importer)}) is a file outside of its package. Put the file into the package`,
      );
    const around = this.#packages.around(path);
    return { path, sideEffects: !around || hasSideEffects(around.json, path.slice(around.folder.length + 1)) };
  }

  /**
   * For imports of the program itself: they lead to each file under the root.
   *
   * @throws Error with a readable reason
   */
  locate(source: string, importer: string, form: ImportForm): Found & { readonly path: string } {
    const found = this.#find(source, importer, form);
    if (found?.path === undefined) throw new Error(missing(source, importer));
    return { path: this.#files.realPath(found.path), within: found.within };
  }

  /** Whether Node takes a file for a module: what `import x from "./common.cjs"` gives depends on it. */
  isModule(path: string): boolean {
    if (/\.m[jt]s$/.test(path)) return true;
    return !/\.c[jt]s$/.test(path) && this.#packages.around(path)?.json.type === "module";
  }

  #find(source: string, importer: string, form: ImportForm): Found | undefined {
    const own = (path: string | undefined): Found => ({ path, within: this.#packages.packageOf(importer) });
    if (/^\.\.?(?:\/|$)/.test(source)) return own(this.#atPath(joinPath(folderOf(importer), source), source));
    if (/^(?:\/|[a-z]:\/)/i.test(source)) return own(this.#atPath(source, source));
    if (source.startsWith("#")) return this.#privateImport(source, importer, form);
    const [, name, rest] = /^((?:@[^/]+\/)?[^/]+)(?:\/(.*))?$/.exec(source) ?? [];
    if (name === undefined) return undefined;
    const around = this.#packages.around(importer);
    if (around?.json.name === name && around.json.exports !== undefined) return this.#exported(around, rest, form);
    const found = this.#packages.installed(name, importer);
    if (found === undefined) return undefined;
    if (found.json.exports !== undefined) return this.#exported(found, rest, form);
    const { folder } = found;
    return {
      path: rest === undefined ? this.#folder(folder) : this.#atPath(`${folder}/${rest}`, source),
      within: folder,
    };
  }

  /** A target of `imports` is a file of the package, or another package. */
  #privateImport(source: string, importer: string, form: ImportForm): Found | undefined {
    const own = this.#packages.around(importer);
    if (own?.json.imports === undefined) return undefined;
    const target = targetOf(() => importsOf(own.json as { name: string }, source, this.#options(form)));
    if (target === undefined) return undefined;
    if (!target.startsWith("./")) return this.#find(target, importer, form);
    return { path: this.#file(joinPath(own.folder, target)), within: own.folder };
  }

  #exported(
    { folder, json }: { readonly folder: string; readonly json: PackageJson },
    rest: string | undefined,
    form: ImportForm,
  ): Found | undefined {
    const entry = rest === undefined ? "." : `./${rest}`;
    const target = targetOf(() => exportsOf(json as { name: string }, entry, this.#options(form)));
    return target === undefined ? undefined : { path: this.#file(joinPath(folder, target)), within: folder };
  }

  #atPath(path: string, source: string): string | undefined {
    return (source.endsWith("/") ? undefined : this.#file(path)) ?? this.#folder(path);
  }

  #file(path: string): string | undefined {
    const typed = written.test(path) ? [path.replace(written, ".$1ts"), path.replace(written, ".$1tsx")] : [];
    return [path, ...typed, ...endings.map((each) => path + each)].find((each) => this.#isFile(each));
  }

  #folder(folder: string): string | undefined {
    const json = this.#packages.in(folder);
    const main = json?.module ?? json?.main;
    const named = main === undefined ? undefined : joinPath(folder, main);
    return (named && (this.#file(named) ?? this.#file(`${named}/index`))) ?? this.#file(`${folder}/index`);
  }

  #options(form: ImportForm): { readonly unsafe: true; readonly conditions: readonly string[] } {
    return { unsafe: true, conditions: [...this.#conditions, "module", form] };
  }

  #isFile(path: string): boolean {
    const known = this.#exists.get(path) ?? this.#files.read(path) !== undefined;
    this.#exists.set(path, known);
    return known;
  }
}

/** @param resolve throws where a package exports nothing under that name */
function targetOf(resolve: () => readonly string[] | void): string | undefined {
  try {
    return resolve()?.[0];
  } catch {
    return undefined;
  }
}

function missing(source: string, importer: string): string {
  const from = `(imported by ${baseOf(importer)})`;
  const isPlatform = /^(?:node|bun|deno|cloudflare):/.test(source) || nodeModules.has(source.split("/", 1)[0] ?? "");
  return isPlatform
    ? `it imports "${source}" ${from}, which only one platform has; a tool's network, files and clock are in the context of \`execute\``
    : `"${source}" cannot be found under the root ${from}`;
}
