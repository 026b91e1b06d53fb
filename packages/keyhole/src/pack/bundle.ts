import type { BuildOptions, BuildResult, Loader, Message, Plugin, PluginBuild } from "esbuild";
import { visible, visibleLine } from "@keyhole/kernel/visible";
import { importAt } from "@keyhole/worker-host/protocol";
import { baseOf, folderOf, type PackFiles } from "./files.ts";
import type { Inputs } from "./inputs.ts";
import { type ImportForm, Resolver } from "./resolve.ts";

/** The interface that native esbuild and esbuild-wasm share. Their versions must be the same: it decides the bytes. */
export interface Esbuild {
  readonly version: string;
  build(options: BuildOptions): Promise<Pick<BuildResult, "outputFiles" | "metafile">>;
}

/** `tool`, `iife` and `esm` are what an import can ask for: `keyhole:./echo.ts`, `keyhole:./shell.ts?iife`. */
export type BundleKind = "tool" | "iife" | "esm";

export interface Bundle extends Inputs {
  readonly code: string;
}

/** Imports of `keyhole:` inside a bundle. */
export interface NestedImports {
  /** A name for an import: the same for the same file and kind. */
  resolve(specifier: string, importer: string, resolver: Resolver): string;
  /** The text of the module. */
  load(name: string): Promise<string>;
}

export interface Bundler {
  readonly esbuild: Esbuild;
  readonly files: PackFiles;
  /** Conditions of package exports, besides `module` and `import`. */
  readonly conditions?: readonly string[];
}

/**
 * A file that cannot be bundled: the reason is for its author. A change of one of its inputs may repair it.
 * The reason can hold what the tool threw, and each bundler prints it: no character of it steers a terminal.
 */
export class BundleError extends Error implements Inputs {
  readonly files: readonly string[];
  readonly missing: readonly string[];

  constructor(message: string, { files, missing }: Inputs) {
    super(visible(message));
    this.name = "BundleError";
    this.files = files;
    this.missing = missing;
  }
}

interface Shape {
  readonly format: "esm" | "iife";
  readonly isExternal: (source: string) => boolean;
  /** Whether `import(expression)` stays as it is: a guest shell needs it, and a tool must not have it. */
  readonly importsAtRunTime: boolean;
}

const shapes = {
  tool: { format: "esm", isExternal: () => false, importsAtRunTime: false },
  iife: { format: "iife", isExternal: () => false, importsAtRunTime: true },
  // The edge's shell is the main module of a dynamic Worker; its tool is a module beside it.
  esm: {
    format: "esm",
    isExternal: (source) => source.startsWith("cloudflare:") || source === "./tool.js",
    importsAtRunTime: true,
  },
} satisfies Record<BundleKind, Shape>;

/** Each of these can change bytes. The machine, the folder, configuration files and defaults of esbuild decide none. */
const pinned = {
  bundle: true,
  write: false,
  metafile: true,
  platform: "neutral",
  target: "es2024",
  minify: true,
  charset: "utf8",
  legalComments: "none",
  sourcemap: false,
  lineLimit: 0,
  keepNames: false,
  treeShaking: true,
  ignoreAnnotations: false,
  splitting: false,
  tsconfigRaw: "{}",
  define: { "process.env.NODE_ENV": '"production"' },
  // V8 has no decorators.
  supported: { decorators: false },
  logLevel: "silent",
} as const satisfies BuildOptions;

/**
 * Bundles one file and everything that it imports to minified text without imports. The text depends on the sources and on the version of esbuild alone: no path, comment,
 * working directory or configuration file goes into it.
 *
 * @throws Error with a readable reason
 */
export async function bundle(
  { esbuild, files, conditions }: Bundler,
  entry: string,
  kind: BundleKind,
  nested: NestedImports,
): Promise<string> {
  const shape: Shape = shapes[kind];
  const resolver = new Resolver(files, conditions);
  try {
    const { outputFiles = [], metafile } = await esbuild.build({
      ...pinned,
      format: shape.format,
      logOverride: {
        "import-is-undefined": "error",
        ...(!shape.importsAtRunTime && { "unsupported-dynamic-import": "error" }),
      },
      entryPoints: [entry],
      plugins: [fileMap(files, resolver, shape, nested)],
    });
    const [output, ...more] = outputFiles;
    if (output === undefined || more.length > 0) throw new Error("it needs a second file, and a package is one file");
    const imported = Object.values(metafile?.outputs ?? {}).flatMap(({ imports }) => imports);
    const kept = imported.find(({ path }) => !shape.isExternal(path));
    if (kept !== undefined) throw new Error(`the packer cannot bundle the import of "${kept.path}"`);
    const code = output.text.trimEnd();
    if (!shape.importsAtRunTime) refuseImports(code);
    return code;
  } catch (error) {
    throw new Error(reasonOf(error, folderOf(entry)), { cause: error });
  }
}

/** A host refuses the package: it takes what looks like an import for one. */
function refuseImports(code: string): void {
  const at = importAt(code);
  if (at === undefined) return;
  const excerpt = JSON.stringify(code.slice(at, at + 40));
  throw new Error(
    `its code can contain an import: ${excerpt}. A tool cannot import when it runs. Write the word in two parts where it is text`,
  );
}

const namespace = "keyhole";
const nestedNamespace = "keyhole-nested";
/** esbuild asks the ending of a name whether a file is a module of Node; it sees no package.json of ours. */
const moduleMark = "?.mts";

const loaders: ReadonlyMap<string, Loader> = new Map([
  ["ts", "ts"],
  ["mts", "ts"],
  ["cts", "ts"],
  ["tsx", "tsx"],
  ["jsx", "jsx"],
  ["json", "json"],
  ["txt", "text"],
]);

function fileMap(files: PackFiles, resolver: Resolver, shape: Shape, nested: NestedImports): Plugin {
  const named = (path: string): string => (resolver.isModule(path) ? `${path}${moduleMark}` : path);
  return {
    name: "keyhole",
    setup(build: PluginBuild) {
      build.onResolve({ filter: /.*/ }, ({ path, importer, kind }) => {
        if (kind === "entry-point") return { path: named(files.realPath(path)), namespace };
        if (shape.isExternal(path)) return { path, external: true };
        if (path.startsWith("keyhole:"))
          return { path: nested.resolve(path, plain(importer), resolver), namespace: nestedNamespace };
        const form: ImportForm = kind.startsWith("require") ? "require" : "import";
        const { path: found, sideEffects } = resolver.resolve(path, plain(importer), form);
        return { path: named(found), sideEffects, namespace };
      });
      build.onLoad({ filter: /.*/, namespace }, ({ path: name }) => {
        const path = plain(name);
        const contents = files.read(path);
        if (contents === undefined) throw new Error(`There is no file ${baseOf(path)}.`);
        return { contents, loader: loaders.get(path.slice(path.lastIndexOf(".") + 1)) ?? "js" };
      });
      build.onLoad({ filter: /.*/, namespace: nestedNamespace }, async ({ path }) => {
        return { contents: await nested.load(path), loader: "js" };
      });
    },
  };
}

function plain(name: string): string {
  return name.endsWith(moduleMark) ? name.slice(0, -moduleMark.length) : name;
}

/** @param folder of the entry: no reason names a path of the machine */
function reasonOf(error: unknown, folder: string): string {
  if (!(error instanceof Error)) return visibleLine(String(error));
  const messages = "errors" in error && Array.isArray(error.errors) ? (error.errors as readonly Message[]) : [];
  if (messages.length === 0) return visibleLine(error.message);
  return messages.map((each) => visibleLine(lineOf(each, folder))).join("\n");
}

function lineOf({ id, pluginName, text, location, notes }: Message, folder: string): string {
  if (id === "unsupported-dynamic-import")
    return "it calls `import()` with a module that only the run determines, so the packer cannot bundle it";
  const shown = text.replaceAll(/keyhole:([^"\n]*)/g, (_, name: string) => shownPath(name, folder));
  // Of what this file threw, the place in this file says nothing; the import that led to it is in a note.
  const place =
    pluginName === "" ? location : notes.find((note) => /triggered by this import/.test(note.text))?.location;
  if (!place) return shown;
  return `${shown} (${shownPath(place.file, folder)}:${place.line}:${place.column + 1})`;
}

function shownPath(name: string, folder: string): string {
  const path = plain(name.replace(/^keyhole:/, ""));
  return path.startsWith(`${folder}/`) ? path.slice(folder.length + 1) : baseOf(path);
}
