import { createRequire, isBuiltin } from "node:module";
import { pathToFileURL } from "node:url";
import { stripVTControlCharacters } from "node:util";
import { parseSync, Visitor, type Rolldown } from "vite";

/** `tool`, `iife` and `esm` are what an import can ask for (`keyhole:./echo.ts`, `keyhole:./shell.ts?iife`); `node` is a script of this package for Node. */
export type BundleKind = "tool" | "iife" | "esm" | "node";

export interface Bundle {
  readonly code: string;
  /** Absolute paths of every module in it, sorted. */
  readonly modules: readonly string[];
}

/** A file that cannot be bundled: the reason is for its author. `modules` are the files that a change may repair. */
export class BundleError extends Error {
  readonly modules: readonly string[];

  constructor(message: string, modules: readonly string[]) {
    super(message);
    this.name = "BundleError";
    this.modules = modules;
  }
}

interface Shape {
  readonly format: "es" | "iife";
  readonly external: (id: string) => boolean;
  /** Whether `import(expression)` stays as it is: what a guest shell does on purpose, and a tool must not. */
  readonly importsAtRunTime: boolean;
}

const shapes = {
  tool: { format: "es", external: () => false, importsAtRunTime: false },
  iife: { format: "iife", external: () => false, importsAtRunTime: true },
  // The edge's shell is the main module of a dynamic Worker; its tool is a module beside it.
  esm: { format: "es", external: (id) => id.startsWith("cloudflare:") || id === "./tool.js", importsAtRunTime: true },
  node: { format: "es", external: isBuiltin, importsAtRunTime: true },
} satisfies Record<BundleKind, Shape>;

/** Vite's own copy, so that a program has one bundler and one version of it. */
async function loadRolldown(): Promise<typeof Rolldown> {
  const vite = createRequire(import.meta.url).resolve("vite/package.json");
  const entry = createRequire(vite).resolve("rolldown");
  return (await import(/* @vite-ignore */ pathToFileURL(entry).href)) as typeof Rolldown;
}

/** In the repository this module is its source, and so are the packages that a tool imports. */
const ownConditions = import.meta.url.endsWith(".ts") ? ["keyhole-source"] : [];

let rolldown: Promise<typeof Rolldown> | undefined;

/**
 * Bundles one file and everything that it imports to minified text without imports. The text depends on the sources alone: no path,
 * comment, working directory or configuration file goes into it.
 *
 * @throws BundleError with a readable reason
 */
export async function bundle(
  file: string,
  kind: BundleKind,
  plugins: readonly Rolldown.Plugin[] = [],
): Promise<Bundle> {
  const shape: Shape = shapes[kind];
  const modules = new Set<string>([file]);
  rolldown ??= loadRolldown();
  const build = await (
    await rolldown
  ).rolldown({
    input: file,
    platform: "neutral",
    tsconfig: false,
    resolve: { conditionNames: [...ownConditions, "module", "import", "default"], mainFields: ["module", "main"] },
    transform: { define: { "process.env.NODE_ENV": '"production"' } },
    plugins: [selfContained(shape, modules), ...plugins],
    onLog: (level, log) => {
      if (level === "warn" && fatalWarnings.has(log.code ?? "")) throw new Error(log.message);
    },
  });
  try {
    const { output } = await build.generate({
      format: shape.format,
      codeSplitting: false,
      minify: true,
      comments: false,
      sourcemap: false,
    });
    // What a bundle inside this one was made of.
    for (const file of await build.watchFiles) modules.add(file.replace(/\?.*$/, ""));
    const code = onlyChunk(output, shape).code.trimEnd();
    if (!shape.importsAtRunTime) refuseRunTimeImports(code);
    return { code, modules: [...modules].sort() };
  } catch (error) {
    throw new BundleError(reasonOf(error), [...modules].sort());
  } finally {
    await build.close();
  }
}

const fatalWarnings: ReadonlySet<string> = new Set(["UNRESOLVED_IMPORT", "MISSING_EXPORT", "IMPORT_IS_UNDEFINED"]);

/** Refuses what only one host has, and notes every file, so that a change of any of them is seen. */
function selfContained(shape: Shape, modules: Set<string>): Rolldown.Plugin {
  return {
    name: "keyhole:self-contained",
    resolveId(source, importer) {
      if (shape.external(source)) return { id: source, external: true };
      if (!isBuiltin(source) && !source.startsWith("cloudflare:")) return null;
      const from = importer === undefined ? "" : ` (imported by ${shortName(importer)})`;
      throw new Error(
        `it imports "${source}"${from}, which only one platform has; what a tool may touch comes in its context`,
      );
    },
    load(id) {
      if (!id.startsWith("\0")) modules.add(id.replace(/\?.*$/, ""));
      return null;
    },
  };
}

function onlyChunk(output: Rolldown.RolldownOutput["output"], shape: Shape): Rolldown.OutputChunk {
  const [chunk, ...rest] = output;
  const extra = rest[0];
  if (extra !== undefined) throw new Error(`it needs a second file (${extra.fileName}), and a package is one file`);
  // An `import("./other.ts")` that was bundled appears as a dynamic import of the chunk itself.
  const imported = [...chunk.imports, ...chunk.dynamicImports].find(
    (id) => id !== chunk.fileName && !shape.external(id),
  );
  if (imported !== undefined) throw new Error(`the import of "${imported}" cannot be bundled`);
  return chunk;
}

function refuseRunTimeImports(code: string): void {
  const { program } = parseSync("tool.js", code, { sourceType: "module" });
  new Visitor({
    ImportExpression() {
      throw new Error(
        "it calls `import()` with a module that is not known before it runs, so the module cannot be bundled",
      );
    },
  }).visit(program);
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const inner = "errors" in error && Array.isArray(error.errors) ? (error.errors as unknown[]) : [];
  const messages = inner.map((each) => (each instanceof Error ? each.message : String(each)));
  return (messages.length > 0 ? messages : [error.message]).map(stripVTControlCharacters).join("\n").trim();
}

function shortName(id: string): string {
  return id.slice(id.lastIndexOf("/") + 1);
}
