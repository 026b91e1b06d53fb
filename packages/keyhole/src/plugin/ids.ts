import { type ImportKind, parseSpecifier, specifierPattern } from "../pack/specifier.ts";
import { listId } from "./lists.ts";

/** Vite's id of an import: the file's path and `?keyhole-KIND`. Files with a path of their own are watched, and have a URL in dev. */
export const idPattern: RegExp = /\?keyhole-(tool|iife|esm|bytes|metered|metered-url)$/;

/**
 * An id of ours alone, with the file in it. Bundlers and their plugins read the end of an id as the ending of a file, and `a.css?…` as a style sheet: this one ends as no file does, and so no other
 * plugin and no rule takes it.
 */
export const ownPattern: RegExp = /^\0keyhole-(?:(tool|iife|esm|bytes):(.*):|all:.*:)$/s;

export function ownId(kind: ImportKind, file: string): string {
  return `\0keyhole-${kind}:${file}:`;
}

/** An import that means the plugin and does not reach it: `./echo.ts?tool`. Without its scheme the importing program would evaluate the file. */
export const unschemedPattern: RegExp =
  /^(?!keyhole:).*[?&](?:tool|keyhole)(?:[&=#]|$)|^(?!keyhole:|\/).*[?&]keyhole-/is;

/** The target of an import: a file and its form, or the id of a list. */
export type Named = { readonly file: string; readonly kind: ImportKind } | { readonly list: string };

/**
 * @param locate the path of the file that an import names
 * @returns `undefined` for an import that is not ours, and for a file that is not there
 * @throws Error for a query that does not exist, and for an id of ours that was written in place of `keyhole:`
 */
export async function resolveSpecifier(
  source: string,
  importer: string | undefined,
  locate: (path: string) => Promise<string | undefined>,
): Promise<Named | undefined> {
  if (importer !== undefined && unschemedPattern.test(source))
    throw new Error(
      `Got the import "${source}"; expected "keyhole:${source.replace(/[?#].*$/s, "")}". Without the scheme the file runs in the realm that imports it.`,
    );
  // A file that imports such a URL would be evaluated where the plugin is missing. A page of the dev server asks for it by its path.
  if (importer !== undefined && idPattern.test(source) && !/^(?:keyhole:|\/)/.test(source))
    throw new Error(`Got the import "${source}"; expected "keyhole:${source.replace(idPattern, "")}".`);
  if (!specifierPattern.test(source)) return undefined;
  const { path, kind } = parseSpecifier(source);
  if (kind === "all") return { list: listOf(path, importer) };
  const file = await locate(path);
  return file === undefined ? undefined : { file, kind };
}

function listOf(pattern: string, importer: string | undefined): string {
  if (importer === undefined || !/^\.\.?\//.test(pattern))
    throw new Error(`"keyhole:${pattern}?all" is relative to the file that imports it: it starts with "./" or "../".`);
  return listId(pattern, importer.replace(/\?.*$/, ""));
}
