/*
 * Imports are written `keyhole:./echo.ts` or `keyhole:./shell.ts?iife`. Only the plugins of this package resolve the scheme. Node, bundlers and browsers refuse it by
 * themselves, so that a tool that was not packed is never evaluated.
 */
import type { BundleKind } from "./bundle.ts";

/** The requested form of an import; without a query `tool`. */
export const importKinds = ["tool", "iife", "esm", "bytes", "metered", "metered-url", "all"] as const;
export type ImportKind = (typeof importKinds)[number];

export const specifierPattern: RegExp = /^\s*[kK][eE][yY][hH][oO][lL][eE]:/;

export function isBundleKind(kind: ImportKind): kind is BundleKind {
  return kind === "tool" || kind === "iife" || kind === "esm";
}

/** @throws Error for a specifier without a file, or with a query that does not exist */
export function parseSpecifier(source: string): { readonly path: string; readonly kind: ImportKind } {
  const [, path, query = "tool"] = /^keyhole:([^?]*)(?:\?(.*))?$/.exec(source) ?? [];
  if (!source.startsWith("keyhole:")) throw new Error(`Got the import "${source}"; expected "keyhole:" before a file.`);
  if (path === undefined || path === "") throw new Error(`"${source}" names no file.`);
  const kind = importKinds.find((each) => each === query);
  if (kind !== undefined) return { path, kind };
  throw new Error(`"${source}" has the query ?${query}; expected none or one of ?${importKinds.slice(1).join(", ?")}.`);
}

export function specifierOf(path: string, kind: ImportKind): string {
  return kind === "tool" ? `keyhole:${path}` : `keyhole:${path}?${kind}`;
}
