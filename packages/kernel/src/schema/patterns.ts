import { attempt } from "./attempt.ts";
import type { Limits } from "./limits.ts";
import { Refusal, tooMuch } from "./refusal.ts";
import type { LinearPatterns, Pattern } from "./types.ts";

/** The patterns of one validator, each compiled once. */
export class Patterns {
  readonly #bySource = new Map<string, Pattern>();
  readonly #limits: Limits;
  readonly #trusted: boolean;
  readonly #linear: ReturnType<LinearPatterns>;

  constructor(limits: Limits, trusted: boolean, linear: LinearPatterns) {
    this.#limits = limits;
    this.#trusted = trusted;
    this.#linear = linear(limits, trusted);
  }

  get(source: string, path: string): Pattern {
    let pattern = this.#bySource.get(source);
    if (pattern === undefined) this.#bySource.set(source, (pattern = this.#compile(source, path)));
    return pattern;
  }

  /**
   * Compiles an ECMA-262 pattern with Unicode semantics. Patterns run on our own automaton, whose
   * time is linear in the text. Look-around and back-references need the engine's backtracking
   * matcher; they are accepted only in schemas that the caller trusts.
   */
  #compile(source: string, path: string): Pattern {
    const { patternLength } = this.#limits;
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
    const linear = this.#linear(source, path);
    if (typeof linear !== "string") return linear;
    if (this.#trusted) return { matches: (text) => native.test(text) };
    throw new Refusal(
      "PATTERN_UNSAFE",
      `The pattern contains ${linear}, whose matching time has no bound.`,
      path,
      "Write it without, use several patterns in allOf, or trust the schema.",
    );
  }
}
