import type { Context } from "../context.ts";
import { Refusal } from "../refusal.ts";
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
    throw new Refusal("PATTERN_TOO_LARGE", `The pattern is longer than ${patternLength} characters.`, path);
  }
  let native: RegExp;
  try {
    native = new RegExp(source, "u");
  } catch {
    throw new Refusal(
      "PATTERN_INVALID",
      "The pattern is not an ECMA-262 regular expression with Unicode semantics.",
      path,
      "With Unicode semantics only syntax characters may be escaped, and a hyphen in a class stands first, last or escaped.",
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
      "Write it without, use several patterns in allOf, or mark the schema as trusted.",
    );
  }
  if (regex.size > patternStates) {
    throw new Refusal(
      "PATTERN_TOO_LARGE",
      `The pattern needs more than ${patternStates} states with its repetitions written out.`,
      path,
      "Use maxLength or minLength instead of large repetition counts.",
    );
  }
  let matcher: Matcher | undefined;
  return (text) => (matcher ??= automaton(regex, nodes))(text);
}
