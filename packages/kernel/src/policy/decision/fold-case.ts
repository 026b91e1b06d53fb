import { foldCase, plainLetters } from "../../capability/readings.ts";
import type { JsonObject, JsonValue } from "../../json/json.ts";

/**
 * Values of arguments as what forbids reads them: two that some reader could take for one are one. Texts in another case, in compatibility characters, with
 * characters that nobody sees, with other spaces; texts of a number, and the number; the texts of other simple values, and the values.
 *
 * @param decision as in {@link foldText}
 */
export function foldValue(value: JsonValue, decision?: object): string {
  if (typeof value !== "object" || value === null) return alikeText(String(value), decision);
  if (Array.isArray(value)) return `[${value.map((each: JsonValue) => foldValue(each, decision)).join()}]`;
  const members = Object.entries(value as JsonObject).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return `{${members.map(([name, each]) => `${JSON.stringify(name)}:${foldValue(each, decision)}`).join()}}`;
}

const decimal = /^[+-]?(?:\d|\.\d)/;

/** JSON, so that no text is an array. */
function alikeText(text: string, decision: object | undefined): string {
  const folded = foldText(text, decision);
  const number = decimal.test(folded) ? Number(folded) : Number.NaN;
  // Beyond 53 bits two numbers of an account would be one.
  return Math.abs(number) <= Number.MAX_SAFE_INTEGER ? JSON.stringify(String(number + 0)) : JSON.stringify(folded);
}

/** Longer texts are folded once in a decision, however many rules look at them. */
const shortLength = 256;
const folds = new WeakMap<object, Map<string, string>>();

/** @param decision what is decided: as long as it is there, its long texts are remembered */
export function foldText(text: string, decision?: object): string {
  if (decision === undefined || text.length <= shortLength) return fold(text);
  let known = folds.get(decision);
  if (!known) folds.set(decision, (known = new Map<string, string>()));
  let folded = known.get(text);
  if (folded === undefined) known.set(text, (folded = fold(text)));
  return folded;
}

/** Anything but letters and signs of ASCII with single spaces between them, as most arguments are. */
const unusual = /[^ -~]| {2}|^ | $/;

function fold(text: string): string {
  if (!unusual.test(text)) return text.toLowerCase();
  return foldCase(plainLetters(text))
    .replace(/\s+/g, " ")
    .replace(/[\u0000-\u001f\u007f-\u009f]/g, "")
    .trim();
}
