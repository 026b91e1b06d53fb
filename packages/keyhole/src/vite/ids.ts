import { idPattern, resolveSpecifier } from "../plugin/ids.ts";
import type { ImportKind } from "../pack/specifier.ts";

export function partsOf(id: string): { readonly file: string; readonly kind: ImportKind } {
  const [query, kind] = idPattern.exec(id)!;
  return { file: id.slice(0, -query.length), kind: kind as ImportKind };
}

interface ResolveContext {
  resolve(source: string, importer?: string, options?: { skipSelf?: boolean }): Promise<{ readonly id: string } | null>;
}

/** @throws Error for a query that does not exist, and for an id of ours that was written in place of `keyhole:` */
export async function resolveId(
  context: ResolveContext,
  source: string,
  importer: string | undefined,
): Promise<string | null> {
  const locate = async (path: string): Promise<string | undefined> =>
    (await context.resolve(path, importer, { skipSelf: true }))?.id;
  const named = await resolveSpecifier(source, importer, locate);
  if (named !== undefined) return "list" in named ? named.list : `${named.file}?keyhole-${named.kind}`;
  if (!idPattern.test(source)) return null;
  // A URL that a page of the dev server asks for.
  const { file, kind } = partsOf(source);
  const found = await locate(file);
  return found === undefined ? null : `${found}?keyhole-${kind}`;
}
