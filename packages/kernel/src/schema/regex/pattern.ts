import { type Refusal, tooMuch } from "../refusal.ts";
import type { LinearPatterns } from "../types.ts";
import { Automaton } from "./automaton.ts";
import { parse } from "./parse.ts";

/** The most states that the tables of an automaton can number. */
const MOST_STATES = 65_000;

/** Patterns on our own automaton, whose states are counted over all patterns of one validator. */
export const linearPatterns: LinearPatterns = ({ patternStates, totalPatternStates }) => {
  let states = 0;
  return (source, path) => {
    const regex = parse(source);
    if (typeof regex === "string") return regex;
    const refuse = (limit: number, where: string): Refusal =>
      tooMuch(
        "PATTERN_TOO_LARGE",
        limit,
        `states in ${where}, repetitions written out`,
        path,
        "Use minLength or maxLength instead of large counts.",
      );
    const most = Math.min(patternStates, MOST_STATES);
    if (regex.size > most) throw refuse(most, "a pattern");
    states += regex.size;
    if (states > totalPatternStates) throw refuse(totalPatternStates, "all its patterns together");
    return new Automaton(source);
  };
};
