import type { ToolPackage } from "@keyhole/kernel";

/** The oldest go. */
const mostKept = 50;
const packages = new Map<string, ToolPackage>();

/** Keeps a package that a person gave to the page's kernel, for replays of its calls until a reload. */
export function noteBrought(pkg: ToolPackage): void {
  packages.set(pkg.hash, pkg);
  const [oldest] = packages.keys();
  if (oldest !== undefined && packages.size > mostKept) packages.delete(oldest);
}

export function broughtPackages(): readonly ToolPackage[] {
  return [...packages.values()];
}
