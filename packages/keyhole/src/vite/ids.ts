// As a whole: an import of `globSync` alone fails on Node 20 before the package can say which Node it needs.
import fs from "node:fs";
import { basename, dirname, join } from "node:path";
import { normalizePath } from "vite";
import { type ImportKind, parseSpecifier, specifierPattern } from "../pack/specifier.ts";

/** A resolved import: the file's path and `?keyhole-KIND`. Files with a path of their own are watched, and have a URL in dev. */
export const idPattern: RegExp = /\?keyhole-(tool|iife|esm|bytes|metered|metered-url)$/;

/** An import that means the plugin and does not reach it: `./echo.ts?tool`. Without its scheme the file would be evaluated by whoever imports it. */
export const unschemedPattern: RegExp = /^(?!keyhole:).*[?&](?:tool|keyhole)(?:[&=#]|$)/s;

/** A resolved `keyhole:./*.ts?all`: the pattern, and the file that imports it. */
export const listPattern: RegExp = /^\0keyhole-all:/;

export function partsOf(id: string): { readonly file: string; readonly kind: ImportKind } {
  const [query, kind] = idPattern.exec(id)!;
  return { file: id.slice(0, -query.length), kind: kind as ImportKind };
}

interface ResolveContext {
  resolve(source: string, importer?: string, options?: { skipSelf?: boolean }): Promise<{ readonly id: string } | null>;
}

/** @throws Error for a query that does not exist, and for an id of ours that was written in place of `keyhole:` */
export async function resolveSpecifier(
  context: ResolveContext,
  source: string,
  importer: string | undefined,
): Promise<string | null> {
  if (importer !== undefined && unschemedPattern.test(source))
    throw new Error(
      `Got the import "${source}"; expected "keyhole:${source.replace(/[?#].*$/s, "")}". Without the scheme the file runs in the realm that imports it.`,
    );
  if (!specifierPattern.test(source)) {
    if (!idPattern.test(source)) return null;
    // A URL that a page of the dev server asks for. A file that imports it would be evaluated where the plugin is missing.
    if (importer !== undefined && !source.startsWith("/"))
      throw new Error(`Got the import "${source}"; expected "keyhole:${source.replace(idPattern, "")}".`);
    const { file, kind } = partsOf(source);
    return withKind(await context.resolve(file, importer, { skipSelf: true }), kind);
  }
  const { path, kind } = parseSpecifier(source);
  if (kind === "all") return listOf(path, importer);
  return withKind(await context.resolve(path, importer, { skipSelf: true }), kind);
}

function withKind(resolved: { readonly id: string } | null, kind: ImportKind): string | null {
  return resolved === null ? null : `${resolved.id}?keyhole-${kind}`;
}

function listOf(pattern: string, importer: string | undefined): string {
  if (importer === undefined || !pattern.startsWith("./"))
    throw new Error(`"keyhole:${pattern}?all" is relative to the file that imports it and starts with "./".`);
  return `\0keyhole-all:${pattern}:${normalizePath(importer.replace(/\?.*$/, ""))}`;
}

/** The files are imported by their own specifiers; the file that asks is not one of them. */
export function listText(id: string): string {
  const [, pattern = "", importer = ""] = /^\0keyhole-all:(.*?):(.*)$/.exec(id) ?? [];
  const folder = dirname(importer);
  const files = fs
    .globSync(pattern, { cwd: folder })
    .map(normalizePath)
    .filter((file) => file !== basename(importer))
    .sort();
  const imports = files.map(
    (file, i) => `import p${i} from ${JSON.stringify(`keyhole:${normalizePath(join(folder, file))}`)};`,
  );
  return [...imports, `export default [${files.map((_, i) => `p${i}`).join(", ")}];`].join("\n");
}
