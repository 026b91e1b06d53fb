import { carriedAddresses } from "../../../capability/matching/hosts.ts";

/*
 * Values on both sides of each boundary that patterns draw. The kernel's own matchers say on which side a value lies; nothing here matches.
 */

/** Stands for what no pattern mentions. */
export const unmentioned = "keyhole0other";

/** Names and their prefixes: `logs_*`. */
export function nameValues(patterns: readonly string[]): readonly string[] {
  const near = patterns.flatMap((pattern) => {
    const stem = pattern.endsWith("*") ? pattern.slice(0, -1) : pattern;
    return stem === "" ? [] : pattern === stem ? [stem, `${stem}x`, swapCase(stem)] : [`${stem}x`, stem];
  });
  return distinct([unmentioned, ...near]);
}

/** Hosts, each under a name of its own. */
export function hostValues(patterns: readonly string[]): readonly string[] {
  const near = patterns.flatMap((pattern) => {
    if (pattern === "*") return [];
    if (pattern.startsWith("*.")) return [`${unmentioned}${pattern.slice(1)}`, pattern.slice(2)];
    const isAddress = pattern.startsWith("[") || /^[\d.]+$/.test(pattern);
    return isAddress
      ? [pattern, ...carriedAddresses(pattern), ...mapped(pattern)]
      : [pattern, `${unmentioned}.${pattern}`];
  });
  return distinct([`${unmentioned}.example`, ...near, unmentioned, "203.0.113.77"]);
}

/** An IPv4 address as IPv6 carries it. */
function mapped(address: string): readonly string[] {
  const parts = address.split(".").map(Number);
  if (parts.length !== 4) return [];
  const [a = 0, b = 0, c = 0, d = 0] = parts;
  return [`[::ffff:${(a * 256 + b).toString(16)}:${(c * 256 + d).toString(16)}]`];
}

/** Prefixes of keys. */
export function prefixValues(prefixes: readonly string[]): readonly string[] {
  const stems = prefixes.filter((each) => each !== "*" && each !== "");
  return distinct([unmentioned, ...stems.flatMap((each) => [each, `${each}x`, each.slice(0, -1)])]);
}

/** Paths of the network: under a prefix, beside it, in the letters that a server may take for the same, and where servers differ. */
export function urlPathValues(prefixes: readonly string[]): readonly string[] {
  const near = prefixes.flatMap((each) => {
    const stem = each === "/" ? "" : each;
    return [each, `${stem}/${unmentioned}`, `${stem}x`, swapCase(each)];
  });
  const pairs = prefixes.length > mostPairs ? [] : prefixes.flatMap((a) => prefixes.map((b) => `${a}/%2e%2e${b}`));
  return distinct([`/${unmentioned}`, "/", ...near, ...pairs, "/%c0%ae"]);
}

const mostPairs = 30;
export const pairsOf = (patterns: readonly string[]): boolean => patterns.length <= mostPairs;

/** Paths of files that globs cover, and their neighbours. */
export function globValues(globs: readonly string[]): readonly string[] {
  const near = globs.flatMap((glob) => {
    const one = instance(glob, "x");
    return [one, instance(glob, unmentioned), instance(glob, ""), `${one}/${unmentioned}`, `${one}x`, swapCase(one)];
  });
  const pairs = pairsOf(globs) ? globs.flatMap((a) => globs.flatMap((b) => (a === b ? [] : commonOf(a, b)))) : [];
  return distinct(["", "x", unmentioned, ...near, ...pairs].map((path) => path.replace(/^\/+|\/+$/g, "")));
}

function instance(glob: string, fill: string): string {
  const segments = glob
    .split("/")
    .flatMap((segment) => (segment === "**" ? (fill === "" ? [] : [fill]) : [segment.replaceAll("*", fill)]));
  return segments.filter((segment) => segment !== "").join("/");
}

/** Paths that two globs cover, or one of them only for a deny, which reads letters of both cases as the same. */
function commonOf(a: string, b: string): readonly string[] {
  return [common(a, b, isEqual), common(swapCase(a), b, isForbidden)].flatMap((path) =>
    path === undefined ? [] : [path],
  );
}

type AreSame = (one: string, other: string) => boolean;
const isEqual: AreSame = (one, other) => one === other;
const isForbidden: AreSame = (one, other) => one.toLowerCase() === other.toLowerCase();

/** A path that two globs cover. Where their letters differ in case alone, it has those of the second one. */
function common(a: string, b: string, areSame: AreSame): string | undefined {
  return meet(
    a.split("/"),
    b.split("/"),
    (one) => one === "**",
    (one, other) => segmentOf(one, other, areSame),
    "x",
  )?.join("/");
}

function segmentOf(one: string, other: string, areSame: AreSame): string | undefined {
  return (
    meet(
      Array.from(one),
      Array.from(other),
      (each) => each === "*",
      (x, y) => (areSame(x, y) ? y : undefined),
      "x",
    )?.join("") || undefined
  );
}

/** A sequence that two patterns cover. A wildcard in one of them takes an element of the other one. */
function meet(
  a: readonly string[],
  b: readonly string[],
  isAny: (element: string) => boolean,
  both: (one: string, other: string) => string | undefined,
  fill: string,
): readonly string[] | undefined {
  const failed = new Set<number>();
  const walk = (i: number, j: number): readonly string[] | undefined => {
    const [one, other] = [a[i], b[j]];
    if (one === undefined && other === undefined) return [];
    if (failed.has(i * 2_048 + j)) return undefined;
    const found = step(i, j, one, other);
    if (found === undefined) failed.add(i * 2_048 + j);
    return found;
  };
  const then = (head: string, tail: readonly string[] | undefined): readonly string[] | undefined =>
    tail && [head, ...tail];
  const step = (i: number, j: number, one?: string, other?: string): readonly string[] | undefined => {
    const [oneAny, otherAny] = [one !== undefined && isAny(one), other !== undefined && isAny(other)];
    if (oneAny && otherAny) return walk(i + 1, j) ?? walk(i, j + 1);
    if (oneAny)
      return walk(i + 1, j) ?? (other === undefined ? undefined : then(other.replaceAll("*", fill), walk(i, j + 1)));
    if (otherAny)
      return walk(i, j + 1) ?? (one === undefined ? undefined : then(one.replaceAll("*", fill), walk(i + 1, j)));
    const head = one === undefined || other === undefined ? undefined : both(one, other);
    return head === undefined ? undefined : then(head, walk(i + 1, j + 1));
  };
  return walk(0, 0);
}

/** The same letters to what forbids, and others to what grants. */
export function swapCase(text: string): string {
  const upper = text.toUpperCase();
  return upper === text ? text.toLowerCase() : upper;
}

export function distinct<T>(values: readonly T[]): readonly T[] {
  return [...new Set(values)];
}
