import { globPaths } from "./glob-values.ts";

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
    return [pattern, `${unmentioned}.${pattern}`];
  });
  return distinct([`${unmentioned}.example`, ...near, unmentioned, "203.0.113.77", ownMachine, notPlain]);
}

/** Another address of the machine that asks; a deny of one of its names meets it. */
const ownMachine = "127.6.6.6";
/** It carries an IPv4 address. */
const notPlain = "[::ffff:cb00:714e]";

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
  const pairs = prefixes.length > mostPairs ? [] : prefixes.flatMap((a) => prefixes.flatMap((b) => pairValues(a, b)));
  return distinct([`/${unmentioned}`, "/", ...near, ...pairs, "/%c0%ae"]);
}

/** A way from one prefix to another one. And a path in the letters of the first that a deny takes for one under the second. */
function pairValues(a: string, b: string): readonly string[] {
  const isWithin = a !== b && b.length >= a.length && b.toLowerCase().startsWith(a.toLowerCase());
  const rest = b.slice(a.length);
  return [`${a}/%2e%2e${b}`, ...(isWithin ? [`${a}${rest}`, `${a}${swapCase(rest)}`] : [])];
}

const mostPairs = 30;
export const pairsOf = (patterns: readonly string[]): boolean => patterns.length <= mostPairs;

/** Paths of files: one of each class that globs tell apart, and the root. */
export function globValues(globs: readonly string[]): readonly string[] {
  return distinct(["", unmentioned, ...globPaths(globs).paths]);
}

/** The same letters to what forbids, and others to what grants. */
function swapCase(text: string): string {
  const upper = text.toUpperCase();
  return upper === text ? text.toLowerCase() : upper;
}

/** The same, also for a text without cases: with a wide letter. */
export function otherLetters(text: string): string {
  const swapped = swapCase(text);
  if (swapped !== text) return swapped;
  return text.replace(/[!-~]/, (letter) => String.fromCharCode(letter.charCodeAt(0) + 0xfee0));
}

export function distinct<T>(values: readonly T[]): readonly T[] {
  return [...new Set(values)];
}
