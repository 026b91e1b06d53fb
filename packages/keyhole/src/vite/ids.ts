import type { RootedPacker } from "../node/packer.ts";
import { forward } from "../node/root.ts";
import { idPattern, ownId, ownPattern, resolveSpecifier } from "../plugin/ids.ts";
import { type ImportKind, specifierPattern } from "../pack/specifier.ts";

export function partsOf(id: string): { readonly file: string; readonly kind: ImportKind } {
  const [, own, path] = ownPattern.exec(id) ?? [];
  if (path !== undefined) return { file: path, kind: own as ImportKind };
  const [query, kind] = idPattern.exec(id)!;
  return { file: id.slice(0, -query.length), kind: kind as ImportKind };
}

interface ResolveContext {
  resolve(source: string, importer?: string, options?: { skipSelf?: boolean }): Promise<{ readonly id: string } | null>;
}

/**
 * Gives out ids for the imports of modules. A request to the dev server brings an id and no importer. It gets only an id that a module's import was
 * given before, and so no file that no module imports: Vite does not look at `server.fs` where a plugin loads.
 *
 * @throws Error for a query that does not exist, and for an id of ours that was written in place of `keyhole:`
 */
export async function resolveId(
  context: ResolveContext,
  source: string,
  importer: string | undefined,
  given: Set<string>,
  packer: RootedPacker,
): Promise<string | null> {
  const id = await idOf(context, source, importer, packer);
  // The absolute paths of a list are for the list alone, whose own id was given out.
  if (id !== null && isModule(importer) && specifierPattern.test(source)) given.add(id);
  return id === null || given.has(id) ? id : null;
}

/** For a request Vite names the page of its root as importer. A script in a page has an id of its own: `index.html?html-proxy…`. */
function isModule(importer: string | undefined): boolean {
  return importer !== undefined && !importer.endsWith(".html");
}

async function idOf(
  context: ResolveContext,
  source: string,
  importer: string | undefined,
  packer: RootedPacker,
): Promise<string | null> {
  const locate = async (path: string): Promise<string | undefined> =>
    (importer === undefined ? undefined : installed(path, importer, packer)) ??
    (await context.resolve(path, importer, { skipSelf: true }))?.id;
  const named = await resolveSpecifier(source, importer, locate);
  if (named !== undefined) return "list" in named ? named.list : idFor(named.file, named.kind);
  if (!idPattern.test(source)) return null;
  // A URL that a page of the dev server asks for.
  const { file, kind } = partsOf(source);
  const found = await locate(file);
  return found === undefined ? null : idFor(found, kind);
}

/**
 * A tool in an installed package, as the packer finds it. Vite would find the bundled copy that its dev server makes of a
 * dependency, and would serve that: the program would evaluate the tool.
 */
function installed(path: string, importer: string, packer: RootedPacker): string | undefined {
  if (/^(?:\.|\/|[a-z]:)/i.test(path)) return undefined;
  try {
    return packer.locate(path, forward(importer.split("?", 1)[0]!), () => {});
  } catch {
    // An alias, or a name that another plugin resolves.
    return undefined;
  }
}

/** The bytes of any file can be imported, and some have an ending that Vite acts on. */
function idFor(file: string, kind: ImportKind): string {
  return kind === "bytes" ? ownId(kind, file) : `${file}?keyhole-${kind}`;
}
