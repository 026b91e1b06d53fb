import { attempt } from "../attempt.ts";
import type { Context } from "../context.ts";
import { Refusal, tooMuch } from "../refusal.ts";
import { automaton } from "./automaton.ts";
import { type Node, parse } from "./parse.ts";

/** Whether a pattern matches anywhere in a text. */
export type Matcher = (text: string) => boolean;

/**
 * Compiles an ECMA-262 pattern with Unicode semantics. Patterns run on our own automaton, whose time is linear in the
 * text; what no automaton can match (look-around, back-references) runs on the engine's backtracking matcher, and only
 * for schemas that the caller trusts.
 */
export function compilePattern(source: string, path: string, context: Context): Matcher {
  const { patternLength, patternStates } = context.limits;
  if (source.length > patternLength) {
    throw tooMuch("PATTERN_TOO_LARGE", patternLength, "characters in a pattern", path);
  }
  const native = attempt(() => new RegExp(source, "u"));
  if (native === undefined) {
    throw new Refusal(
      "PATTERN_INVALID",
      "The pattern is not an ECMA-262 regular expression with Unicode semantics.",
      path,
      "Escape only syntax characters, and a hyphen inside a class.",
    );
  }
  const nodes: Node[] = [];
  const regex = parse(source, nodes);
  if (typeof regex === "string") {
    if (context.options.trusted === true) return (text) => native.test(text);
    throw new Refusal(
      "PATTERN_UNSAFE",
      `The pattern contains ${regex}, whose matching time has no bound.`,
      path,
      "Write it without, use several patterns in allOf, or trust the schema.",
    );
  }
  if (regex.size > patternStates) {
    throw tooMuch(
      "PATTERN_TOO_LARGE",
      patternStates,
      "states in a pattern, repetitions written out",
      path,
      "Use minLength or maxLength instead of large counts.",
    );
  }
  let matcher: Matcher | undefined;
  return (text) => (matcher ??= automaton(regex, nodes))(text);
}
