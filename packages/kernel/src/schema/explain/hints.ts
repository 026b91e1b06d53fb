import { type Keywords, at } from "../context.ts";
import { equal, isCompound, isObject } from "../equal.ts";
import type { Check, JsonObject } from "../types.ts";
import { choices, expected, quote } from "./describe.ts";

/** The candidate, quoted, that shares almost all letters with a word, in any order: typing errors are mostly that. */
function nearest(word: unknown, candidates: Iterable<unknown>): string | undefined {
  if (typeof word !== "string" || word.length > 100) return undefined;
  let best: string | undefined;
  let least = Math.min(word.length, Math.max(3, word.length / 3));
  for (const candidate of [...candidates].slice(0, 200)) {
    if (typeof candidate !== "string" || candidate.length > 100) continue;
    let left = candidate.toLowerCase();
    for (const letter of word.toLowerCase()) left = left.replace(letter, () => "");
    const distance = word.length - candidate.length + 2 * left.length;
    if (distance < least) [least, best] = [distance, quote(candidate)];
  }
  return best;
}

/** The hint that names the nearest candidate, or another one where none is near. */
export function didYouMean(word: unknown, candidates: Iterable<unknown>, otherwise: string): string {
  const near = nearest(word, candidates);
  return near === undefined ? otherwise : `Did you mean ${near}?`;
}

/** Guesses at the meant value; a hint stands beside a guess whose text must stay secret. */
function repairs(value: unknown): (readonly [meant: unknown, hint?: string])[] {
  const list: (readonly [unknown, string?])[] = [];
  if (typeof value === "string") {
    const text = value.trim();
    const lower = text.toLowerCase();
    try {
      const parsed: unknown = JSON.parse(lower.length < 6 ? lower : text);
      list.push(
        isCompound(parsed)
          ? [parsed, "Pass the value itself, not JSON text in a string."]
          : [parsed, `Write ${quote(parsed)} without quotation marks.`],
      );
    } catch {}
    list.push([text], [lower], [text.toUpperCase()], [lower.replaceAll("-", "_")]);
  } else if (typeof value === "number" || typeof value === "boolean") list.push([String(value)]);
  else if (isCompound(value) && Object.keys(value).length === 1)
    list.push([Object.values(value)[0], "Pass the only value in it, without the array or object around it."]);
  list.push([[value], "Put it into an array."]);
  return list;
}

/** The hint at a change of the value after which it conforms. */
export function repair(value: unknown, conforms: Check): string | undefined {
  const found = repairs(value).find(([meant]) => conforms(meant));
  return found && (found[1] ?? `Did you mean ${quote(found[0])}?`);
}

/** The hint for a property that is missing from an object whose members `others` the schema does not name. */
export function missingHint(name: string, value: JsonObject, others: readonly string[], place: Keywords): string {
  const near = nearest(name, others);
  if (near !== undefined) return `Rename ${near} to ${quote(name)}.`;
  const around = others.find((other) => isObject(value[other]) && Object.hasOwn(value[other], name));
  if (around !== undefined) return `Move it out of ${quote(around)}.`;
  const property = at(at(place, "properties"), name);
  const inside = others.filter((other) => at(at(property, "properties"), other).schema !== undefined);
  if (inside.length > 0) return `Add ${quote(name)}, and move ${choices(inside, "and")} into it.`;
  const keyword = ["const", "enum", "type"].find((each) => at(property, each).schema !== undefined);
  return `Add ${quote(name)}${keyword === undefined ? "" : `: ${expected(keyword, at(property, keyword).schema)}`}.`;
}

/** The hint for a member of an object that the schema has no property for. */
export function unknownHint(name: string, value: JsonObject, known: readonly string[], place: Keywords): string {
  const properties = at(place, "properties");
  const into = known.find((each) => at(at(at(properties, each), "properties"), name).schema !== undefined);
  if (into !== undefined) return `Move it into ${quote(into)}.`;
  // A default probably produced a value that equals it.
  const free = known.filter(
    (each) => !Object.hasOwn(value, each) || equal(value[each], at(at(properties, each), "default").schema),
  );
  const otherwise = known.length > 0 ? `Leave it out; known properties are ${choices(known, "and")}.` : "Leave it out.";
  return didYouMean(name, free, otherwise);
}
