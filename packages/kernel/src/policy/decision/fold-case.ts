import { type JsonObject, type JsonValue, isJsonArray } from "../../json/json.ts";
import { foldText, numbersAtStart } from "../../support/fold.ts";

/**
 * Folds a value of an argument for denies: two values that some reader could take for the same one
 * become equal. Case, compatibility characters, invisible characters and kinds of spaces do not
 * count. A number equals its text, and so do other simple values. For numbers beyond 53 bits this
 * is a first look: {@link isAlike} compares their digits.
 *
 * @param fold of one text
 */
export function foldValue(value: JsonValue, fold: (text: string) => string = foldText): string {
  if (typeof value !== "object" || value === null) return alikeText(fold(String(value)));
  if (isJsonArray(value)) return `[${value.map((each) => foldValue(each, fold)).join()}]`;
  const members = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return `{${members.map(([name, each]) => `${JSON.stringify(name)}:${foldValue(each, fold)}`).join()}}`;
}

const decimal = /^[+-]?(?:\d|\.\d)/;

/** Not a number, where the text is none. */
const numberIn = (folded: string): number => (decimal.test(folded) ? Number(folded) : Number.NaN);

/** JSON, so that no text is an array. */
function alikeText(folded: string): string {
  const number = numberIn(folded);
  return JSON.stringify(Number.isNaN(number) ? folded : String(number + 0));
}

/** Whether two values with one {@link foldValue} mean one thing: two texts of numbers beyond 53 bits can have one, and be two accounts. */
export function isAlike(one: JsonValue, other: JsonValue): boolean {
  if (typeof one === "string" && typeof other === "string") return areAlikeTexts(foldText(one), foldText(other));
  if (typeof one !== "object" || typeof other !== "object" || one === null || other === null) return true;
  return Object.entries(one).every(([name, each]) => isAlike(each, (other as JsonObject)[name]!));
}

/** Whether a value has a text in it for which a first look is not enough. */
export function hasLargeNumber(value: JsonValue): boolean {
  if (typeof value === "string") return isLarge(foldText(value));
  return typeof value === "object" && value !== null && Object.values(value).some(hasLargeNumber);
}

const isLarge = (folded: string): boolean => Math.abs(numberIn(folded)) > Number.MAX_SAFE_INTEGER;

function areAlikeTexts(one: string, other: string): boolean {
  if (one === other || !isLarge(one)) return true;
  const wanted = digitsOf(one) ?? one;
  const digits = digitsOf(other);
  return digits === undefined
    ? wanted === other || numbersAtStart(other).some((each) => digitsOf(each) === wanted)
    : digits === wanted;
}

/** Longer ones are no numbers of anything. */
const longestNumber = 1_000;

/** The one form of a decimal number, however large: its digits without zeros around them, and what they are multiplied by. `undefined` where it has none. */
function digitsOf(folded: string): string | undefined {
  if (folded.length > longestNumber) return undefined;
  if (/^0[box]/.test(folded)) return digitsOf(String(BigInt(folded)));
  const [, sign, whole = "", part = "", power = "0"] =
    /^([+-]?)(\d*)(?:\.(\d*))?(?:e([+-]?\d{1,15}))?$/.exec(folded) ?? [];
  const digits = (whole + part).replace(/^0+/, "");
  if (sign === undefined || digits === "") return undefined;
  const significant = digits.replace(/0+$/, "");
  return `${sign.replace("+", "")}${significant}e${Number(power) - part.length + digits.length - significant.length}`;
}
