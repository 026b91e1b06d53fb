/** SemVer 2.0.0, as its own grammar gives it. */
const versionPattern =
  /^(0|[1-9]\d{0,8})\.(0|[1-9]\d{0,8})\.(0|[1-9]\d{0,8})(?:-((?:0|[1-9]\d{0,15}|\d*[a-zA-Z-][0-9a-zA-Z-]*)(?:\.(?:0|[1-9]\d{0,15}|\d*[a-zA-Z-][0-9a-zA-Z-]*))*))?(?:\+([0-9a-zA-Z-]+(?:\.[0-9a-zA-Z-]+)*))?$/;

const rangePattern = /^([\^~])?(\d{1,9})(?:\.(?:[xX*](?:\.[xX*])?|(\d{1,9})(?:\.(?:[xX*]|(\d{1,9})))?))?$/;

export interface Version {
  readonly core: readonly [number, number, number];
  readonly prerelease: readonly string[];
  /** Of no weight for the order. Two builds are two tools. */
  readonly build: string;
}

export function parseVersion(text: string): Version | undefined {
  const match = text.length <= 256 ? versionPattern.exec(text) : null;
  if (!match) return undefined;
  const [, major, minor, patch, prerelease, build = ""] = match;
  return { core: [Number(major), Number(minor), Number(patch)], prerelease: prerelease?.split(".") ?? [], build };
}

type Ordered = Pick<Version, "core" | "prerelease">;

/** Precedence (SemVer 2.0.0, section 11). */
export function compareVersions(a: Ordered, b: Ordered): number {
  const [major, minor, patch] = b.core;
  const byCore = a.core[0] - major || a.core[1] - minor || a.core[2] - patch;
  if (byCore !== 0) return byCore;
  if (a.prerelease.length === 0 || b.prerelease.length === 0) return b.prerelease.length - a.prerelease.length;
  for (const [i, identifier] of a.prerelease.entries()) {
    const other = b.prerelease[i];
    const order = other === undefined ? 0 : compareIdentifiers(identifier, other);
    if (order !== 0) return order;
  }
  return a.prerelease.length - b.prerelease.length;
}

function compareIdentifiers(a: string, b: string): number {
  const [aNumeric, bNumeric] = [/^\d+$/.test(a), /^\d+$/.test(b)];
  // Without zeros before them, and as large as they like: two of 16 digits can be one number of an engine.
  if (aNumeric && bNumeric && a.length !== b.length) return a.length - b.length;
  if (aNumeric !== bNumeric) return aNumeric ? -1 : 1;
  return a < b ? -1 : a > b ? 1 : 0;
}

/**
 * The versions that a request takes: an exact version, `^1.2.3`, `~1.2.3`, `1`, `1.2`, `1.x`, `1.2.x`. A pre-release matches only when it is named
 * exactly, and a build likewise, unless it `forbids`: then those of every version in the range match too. `undefined` for anything else.
 */
export function parseRange(text: string, forbids = false): ((version: Version) => boolean) | undefined {
  const exact = parseVersion(text);
  if (exact) {
    const isAnyBuild = forbids || exact.build === "";
    return (version) => compareVersions(version, exact) === 0 && (isAnyBuild || version.build === exact.build);
  }
  const match = rangePattern.exec(text);
  if (!match) return undefined;
  const [major = 0, minor, patch] = match
    .slice(2)
    .map((part: string | undefined) => (part === undefined ? undefined : Number(part)));
  const from: Ordered = { core: [major, minor ?? 0, patch ?? 0], prerelease: [] };
  const below = upperBound(match[1], major, minor, patch);
  return ({ core, prerelease }) =>
    (forbids || prerelease.length === 0) &&
    compareVersions({ core, prerelease: [] }, from) >= 0 &&
    compareVersions({ core, prerelease: [] }, { core: below, prerelease: [] }) < 0;
}

/** `^` keeps the left-most digit that is not zero, `~` keeps major and minor; without either, what is missing is free. */
function upperBound(
  operator: string | undefined,
  major: number,
  minor?: number,
  patch?: number,
): [number, number, number] {
  if (minor === undefined) return [major + 1, 0, 0];
  if (operator === "^") {
    if (major > 0) return [major + 1, 0, 0];
    if (minor > 0 || patch === undefined) return [0, minor + 1, 0];
    return [0, 0, patch + 1];
  }
  if (operator === "~" || patch === undefined) return [major, minor + 1, 0];
  return [major, minor, patch + 1];
}
