import { attempt } from "../attempt.ts";
import type { Limits } from "../limits.ts";
import { Refusal, tooMuch } from "../refusal.ts";
import { Automaton } from "./automaton.ts";
import { parse } from "./parse.ts";

export interface Pattern {
  /** Whether the pattern matches anywhere in a text. */
  matches(text: string): boolean;
}

/** What the tables of the automata can number. */
const MOST_STATES = 65_000;

/** The patterns of one validator, each compiled once. */
export class Patterns {
  readonly #bySource = new Map<string, Pattern>();
  readonly #limits: Limits;
  readonly #trusted: boolean;
  #states = 0;

  constructor(limits: Limits, trusted: boolean) {
    this.#limits = limits;
    this.#trusted = trusted;
  }

  get(source: string, path: string): Pattern {
    let pattern = this.#bySource.get(source);
    if (pattern === undefined) this.#bySource.set(source, (pattern = this.#compile(source, path)));
    return pattern;
  }

  /**
   * Compiles an ECMA-262 pattern with Unicode semantics. Patterns run on our own automaton, whose time is linear in the
   * text; what no automaton can match (look-around, back-references) runs on the engine's backtracking matcher, and only
   * for schemas that the caller trusts.
   */
  #compile(source: string, path: string): Pattern {
    const { patternLength, patternStates, totalPatternStates } = this.#limits;
    if (source.length > patternLength)
      throw tooMuch("PATTERN_TOO_LARGE", patternLength, "characters in a pattern", path);
    const native = attempt(() => new RegExp(source, "u"));
    if (native === undefined) {
      throw new Refusal(
        "PATTERN_INVALID",
        "The pattern is not an ECMA-262 regular expression with Unicode semantics.",
        path,
        "Escape only syntax characters, and a hyphen inside a class.",
      );
    }
    const regex = parse(source);
    if (typeof regex === "string") {
      if (this.#trusted) return { matches: (text) => native.test(text) };
      throw new Refusal(
        "PATTERN_UNSAFE",
        `The pattern contains ${regex}, whose matching time has no bound.`,
        path,
        "Write it without, use several patterns in allOf, or trust the schema.",
      );
    }
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
    this.#states += regex.size;
    if (this.#states > totalPatternStates) throw refuse(totalPatternStates, "all its patterns together");
    return new Automaton(source);
  }
}
