import type { Face } from "../../../capability/matching/paths.ts";
import type { JsonValue } from "../../../json/json.ts";
import type { Truth } from "../../decision/arguments.ts";
import type { Draft, Readings } from "./draft.ts";

/** A draft with one value of an argument; `undefined` for none. */
export function withArgument(draft: Draft, pointer: string, value: JsonValue | undefined): Draft {
  const given = new Map(draft.arguments);
  if (value === undefined) given.delete(pointer);
  else given.set(pointer, value);
  const { readings, ...others } = draft;
  const left = new Map(readings);
  left.delete(pointer);
  return { ...others, arguments: given, ...(left.size > 0 && { readings: left }) };
}

/** A draft whose argument means several things. */
export function withReadings(draft: Draft, pointer: string, readings: Readings): Draft {
  const written = withArgument(draft, pointer, readings.sure[0]);
  return { ...written, readings: new Map([...(written.readings ?? []), [pointer, readings]]) };
}

/** A draft with its arguments as written. */
export function asWritten({ readings: _, ...draft }: Draft): Draft {
  return draft;
}

/**
 * How a condition takes the readings of a text: a deny holds with any reading, a grant with each one that a grant looks at. A negation swaps the two: `none-of` denies by the
 * text as written, and grants where no reading is forbidden.
 */
export type TakesReadings = "each" | "none-of" | "as-written";

/** The answer of a test to a draft in all readings of its arguments. */
export function truthInReadings(draft: Draft, face: Face, takes: TakesReadings, test: (draft: Draft) => Truth): Truth {
  const isWritten = !draft.readings || takes === "as-written" || (takes === "none-of" && face === "deny");
  if (isWritten) return test(draft);
  const looks = takes === "each" && face === "grant" ? "sure" : "all";
  return truthOfAll(alternativesOf(draft, looks).map(test), face);
}

/** An error of a rule decides where no reading does. */
function truthOfAll(truths: readonly Truth[], face: Face): Truth {
  const decisive = face === "deny";
  if (truths.includes(decisive)) return decisive;
  return truths.find((each) => typeof each !== "boolean") ?? !decisive;
}

const alternatives = { sure: new WeakMap<Draft, readonly Draft[]>(), all: new WeakMap<Draft, readonly Draft[]>() };

function alternativesOf(draft: Draft, looks: "sure" | "all"): readonly Draft[] {
  const known = alternatives[looks].get(draft);
  if (known) return known;
  const made = [...(draft.readings ?? [])].flatMap(([pointer, { sure, possible }]) =>
    [...sure, ...(looks === "all" ? possible : [])].map((value) => withArgument(draft, pointer, value)),
  );
  alternatives[looks].set(draft, made);
  return made;
}

/** Values that may have all readings of an argument. */
const ways: readonly ((one: string, other: string) => string)[] = [
  (one, other) => `${one}/../${other}`,
  (one, other) => `${other}/../${one}`,
  (one, other) => `${one}#/../${other}`,
  (one, other) => `${one}${other}`,
  (one, other) => `${other}${one}`,
];

/** Drafts that the kernel can decide, of which one may mean what a draft does. */
export function writtenOut(draft: Draft): readonly Draft[] {
  return ways.map((way) =>
    [...(draft.readings ?? [])].reduce((made, [pointer, { sure, possible }]) => {
      const texts = [...sure, ...possible].filter((each) => typeof each === "string");
      const isText = texts.length === sure.length + possible.length;
      return withArgument(made, pointer, isText ? texts.reduce(way) : sure[0]);
    }, draft),
  );
}
