import { resolveImport, type SourceFile, type SourceImport } from "../support/sources.ts";

/**
 * Groups of files that import each other in a circle: the strongly connected components of more than one file, and
 * files that import themselves. Paths and groups are sorted, so that the same imports give the same list.
 */
export function circles(files: readonly SourceFile[], kinds: readonly SourceImport["kind"][]): string[][] {
  const targets = new Map(files.map((file) => [file.path, targetsOf(file, kinds)]));
  const groups = componentsOf(targets).filter(
    ([first = "", ...more]) => more.length > 0 || targets.get(first)?.includes(first),
  );
  return groups.map((group) => group.toSorted()).toSorted(([a = ""], [b = ""]) => (a < b ? -1 : 1));
}

function targetsOf({ path, imports }: SourceFile, kinds: readonly SourceImport["kind"][]): string[] {
  return imports
    .filter(({ kind, specifier }) => kinds.includes(kind) && specifier.startsWith("."))
    .map(({ specifier }) => resolveImport(path, specifier));
}

/** Tarjan's algorithm. */
function componentsOf(targets: ReadonlyMap<string, readonly string[]>): string[][] {
  const order = new Map<string, number>();
  const open: string[] = [];
  const found: string[][] = [];
  /** Returns the earliest open file that this one reaches. */
  const visit = (path: string): number => {
    const own = order.size;
    let earliest = own;
    order.set(path, own);
    open.push(path);
    for (const target of targets.get(path) ?? []) {
      if (!targets.has(target)) continue;
      const seen = order.get(target);
      if (seen === undefined) earliest = Math.min(earliest, visit(target));
      else if (open.includes(target)) earliest = Math.min(earliest, seen);
    }
    if (earliest === own) found.push(open.splice(open.indexOf(path)));
    return earliest;
  };
  for (const path of targets.keys()) if (!order.has(path)) visit(path);
  return found;
}
